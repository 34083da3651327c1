/** The process of a command. Only main.ts reads the global one; everything else gets it as a value. */

/** A stream for text. A terminal also has a number of columns. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string | Uint8Array): unknown;
}

/** The environment variables of a process. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The signals that end a command: Ctrl-C, the signal of `kill` and containers, and a closed terminal. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type StopSignal = (typeof STOP_SIGNALS)[number];

/**
 * The part of Node's `process` that commands use. Files and the working directory are not part of it:
 * Node has one working directory for all of its code.
 */
export interface CommandProcess {
  readonly env: Variables;
  readonly stdin: Pick<NodeJS.ReadStream, 'isTTY' | 'on' | 'off' | 'pause'>;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly pid: number;
  /** The id of the parent process. It changes if the parent ends first. */
  readonly ppid: number;
  /** What a list of processes shows; initially the command line. */
  title: string;
  on(signal: StopSignal, listener: (signal: NodeJS.Signals) => void): unknown;
  off(signal: StopSignal, listener: (signal: NodeJS.Signals) => void): unknown;
  /** Ends the process without cleaning up. */
  exit(code: number): void;
}
