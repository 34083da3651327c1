// Registers the matchers with Vitest. Import this file in a test or in `setupFiles`.
import '../../bin/check-node.js';
import { expect } from 'vitest';
import { toBeValidMessage, toConform, toHavePassedEval } from 'sandbox-kit/matchers';

expect.extend({ toBeValidMessage, toConform, toHavePassedEval });
