import type { SandboxKitMatchers } from 'sandbox-kit/matchers';

declare module 'vitest' {
  interface Assertion<T = any> extends SandboxKitMatchers {}
  interface AsymmetricMatchersContaining extends SandboxKitMatchers<unknown> {}
}
