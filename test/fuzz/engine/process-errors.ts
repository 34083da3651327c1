import { Violation } from './target.ts';

/** The errors of a process that no promise and no `try` caught. */
export interface ProcessErrors {
  /** Throws the first error since the last call. */
  throwFirst(): void;
  stop(): void;
}

/** Collects errors that would end the process, and warnings about listeners that are never removed. */
export function collectProcessErrors(): ProcessErrors {
  let first: Error | undefined;
  const note = (kind: string, reason: unknown): void => {
    const { stack = String(reason) } = reason instanceof Error ? reason : {};
    first ??= new Violation(`${kind}: ${stack}`);
  };
  const onException = (error: unknown): void => note('Uncaught exception', error);
  const onRejection = (reason: unknown): void => note('Unhandled rejection', reason);
  const onWarning = (warning: Error): void => {
    if (warning.name === 'MaxListenersExceededWarning') note('Leak of listeners', warning);
  };
  process.on('uncaughtException', onException);
  process.on('unhandledRejection', onRejection);
  process.on('warning', onWarning);
  return {
    throwFirst() {
      const error = first;
      first = undefined;
      if (error) throw error;
    },
    stop() {
      process.off('uncaughtException', onException);
      process.off('unhandledRejection', onRejection);
      process.off('warning', onWarning);
    },
  };
}
