// Without this import, the matchers would be unknown in files that import Vitest later.
import 'vitest';
import type { SandboxKitMatchers } from 'sandbox-kit/matchers';

declare module 'vitest' {
  interface Matchers extends SandboxKitMatchers {}
  // Vitest 3 and 4 need this for `expect.not`.
  interface AsymmetricMatchersContaining extends Matchers {}
}
