import type { Arbitrary } from 'fast-check';

/** Something that is fuzzed: where its inputs come from, and what receives them. */
export interface Target<Input> {
  /** What is sent to whom, as a phrase. */
  about: string;
  inputs: Arbitrary<Input>;
  /** How many inputs are sent before the state is reset. */
  inputsPerRound: number;
  /** Returns how many requests, packets, or documents an input consists of (default: 1). */
  countOf?(input: Input): number;
  /** Starts what receives the inputs. */
  open(): Promise<Session<Input>>;
}

/** What receives the inputs of a target. */
export interface Session<Input> {
  /** Sends an input. Throws if the response violates a rule. */
  send(input: Input): Promise<void> | void;
  /** Returns an input as it is sent, for people (default: as fast-check writes it). */
  describe?(input: Input): string;
  /** Restores the state after `open`. Throws if what was fuzzed no longer works. */
  reset(): Promise<void> | void;
  close(): Promise<void> | void;
}

/** Declares a target. Its inputs are known only to itself. */
export const defineTarget = <Input>(target: Target<Input>): Target<unknown> => target;

/** A response or an effect that a rule forbids. */
export class Violation extends Error {
  override name = 'Violation';
}
