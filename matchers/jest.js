// Registers the matchers of sandbox-kit with Jest: import it in a test or in `setupFilesAfterEnv`.
import { expect } from '@jest/globals';
import { toBeValidMessage, toConform, toHavePassedEval } from 'sandbox-kit/matchers';

expect.extend({ toBeValidMessage, toConform, toHavePassedEval });
