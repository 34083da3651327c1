import type { SandboxKitMatchers } from 'sandbox-kit/matchers';

declare module '@jest/expect' {
  // For `import { expect } from '@jest/globals'`.
  interface Matchers<R extends void | Promise<void>, T = unknown> extends SandboxKitMatchers {}
  interface AsymmetricMatchers extends SandboxKitMatchers {}
}

declare global {
  namespace jest {
    // For the globals of `@types/jest`.
    interface Matchers<R, T = {}> extends SandboxKitMatchers {}
  }
}
