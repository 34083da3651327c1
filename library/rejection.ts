/** Creates the error for options that can't be used. */
export type Reject = (message: string, cause?: unknown) => Error;

/** Rejects the options of a function of the library. */
export const rejectCall =
  (caller: string): Reject =>
  (message, cause) =>
    new TypeError(`${caller}: ${message}`, cause === undefined ? undefined : { cause });
