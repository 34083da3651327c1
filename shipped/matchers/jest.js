// Registers the matchers with Jest. Import this file in a test or in `setupFilesAfterEnv`.
import '../../bin/check-node.js';
import { expect } from '@jest/globals';
import { toBeValidMessage, toConform, toHavePassedEval } from 'sandbox-kit/matchers';

expect.extend({ toBeValidMessage, toConform, toHavePassedEval });
