/**
 * Matchers for Vitest and Jest, and assertion functions for `node:test`:
 *
 *     import { toBeValidMessage, toConform, toHavePassedEval } from 'sandbox-kit/matchers';
 *     expect.extend({ toBeValidMessage, toConform, toHavePassedEval });
 *
 * `sandbox-kit/matchers/vitest` and `sandbox-kit/matchers/jest` register them with their types.
 *
 * @packageDocumentation
 */
// `node:test` and Jest need the types of Node, which TypeScript 6 does not load by itself.
/// <reference types="node" preserve="true" />
import { AssertionError } from 'node:assert';
import type { MessageName, Messages } from '../../src/contract/index.ts';
import { judgeConformance } from './conformance.ts';
import { judgeEval } from './evals.ts';
import type { Judgment } from './judgment.ts';
import { judgeMessage } from './message.ts';

export type { Judgment } from './judgment.ts';
export type { MessageName, Messages } from '../../src/contract/index.ts';

/** The matchers as methods of `expect`. */
export interface SandboxKitMatchers {
  /** Expects a conforming report of `check` or `grade`, or a conforming exchange. */
  toConform(): MatcherResult<this>;
  /** Expects a value that matches the schema of a message, such as `ChatResponse`. */
  toBeValidMessage(name: MessageName): MatcherResult<this>;
  /** Expects that an eval, by name or id, passed in every session that has it. */
  toHavePassedEval(name: string): MatcherResult<this>;
}

/**
 * What the runner's own matchers return: nothing, or a promise after `resolves` and `rejects`. The
 * versions of Vitest have different type parameters for it. An asymmetric matcher returns any value.
 */
export type MatcherResult<Expectation> = Expectation extends { toBeDefined(): infer Result }
  ? Result
  : unknown;

/**
 * Expects a conforming report of `check` or `grade`, or a conforming exchange.
 *
 * @throws {TypeError} if the value is neither, for example a promise.
 */
export function toConform(received: unknown): Judgment {
  return judgeConformance('toConform', received);
}

/**
 * Expects a value that matches the schema of a message, such as `ChatResponse`.
 *
 * @throws {TypeError} if no message has the name, or the value is a promise.
 */
export function toBeValidMessage(received: unknown, name: MessageName): Judgment {
  return judgeMessage('toBeValidMessage', received, name);
}

/**
 * Expects that an eval, by name or id, passed in every session that has it, and in at least one.
 *
 * @throws {TypeError} if the value has no sessions, or is a promise.
 */
export function toHavePassedEval(received: unknown, name: string): Judgment {
  return judgeEval('toHavePassedEval', received, name);
}

/** Same as `toConform`, for any test runner. @throws {AssertionError} with the first failures. */
export function assertConforms(value: unknown): void {
  assertJudgment(judgeConformance('assertConforms', value), assertConforms);
}

/** Same as `toBeValidMessage`, for any test runner. @throws {AssertionError} with the first violations. */
export function assertValidMessage<Name extends MessageName>(
  value: unknown,
  name: Name,
): asserts value is Messages[Name] {
  assertJudgment(judgeMessage('assertValidMessage', value, name), assertValidMessage);
}

/** Same as `toHavePassedEval`, for any test runner. @throws {AssertionError} with the first failures. */
export function assertPassedEval(value: unknown, name: string): void {
  assertJudgment(judgeEval('assertPassedEval', value, name), assertPassedEval);
}

function assertJudgment(
  { pass, message }: Judgment,
  stackStartFn: (...args: never[]) => unknown,
): void {
  if (!pass) throw new AssertionError({ message: message(), stackStartFn });
}
