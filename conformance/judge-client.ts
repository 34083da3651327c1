import type { ExchangeRecord, RunRecord, ServiceFault } from '../src/contract/index.ts';
import { clientSuite } from './areas/index.ts';
import { clientArea, type CheckResult } from './check.ts';
import { SUITE_NAME } from './engine/drive/run.ts';
import type { JudgeOptions } from './engine/judge/judge.ts';
import { toExchange, type Transcript } from './engine/transcript/transcript.ts';
import { createReport } from './reports/report.ts';

/** The requests that a service recorded, in the order of arrival, with its responses. */
export interface ClientRecording {
  /** ISO 8601 time when the recording started. */
  startedAt: string;
  /** Lowercase name of the header with the API key. */
  apiKeyHeader: string;
  exchanges: readonly ExchangeRecord[];
  /** Number of requests that arrived after the recording was full. */
  droppedRequests: number;
}

/** Faults of the service that provoke each kind of retry, except of reads, which few clients repeat. */
export const retryFaults: readonly ServiceFault[] = [
  { kind: 'rate_limit', route: 'traces', retry_after_s: 1, times: 1 },
  { kind: 'unavailable', route: 'traces', retry_after_s: 1, times: 1 },
  { kind: 'unavailable', route: 'end', retry_after_s: 1, times: 1 },
];

/** Options of `judgeClient`. */
export interface ClientJudgmentOptions extends JudgeOptions {
  recording: ClientRecording;
  /** The base URL of the service that recorded the client. */
  target: string;
  kitVersion: string;
  /** ISO 8601 time of the judgment. */
  endedAt: string;
  /** Whether the client was stopped before it finished. */
  isInterrupted?: boolean;
}

/**
 * Judges a client of the service by the exchanges that the service recorded. The same recording
 * always gets the same judgment. A client that sent no request is not judged.
 */
export function judgeClient(options: ClientJudgmentOptions): CheckResult {
  const transcript = toClientTranscript(options);
  const { strict = false, endedAt } = options;
  return { transcript, report: createReport(clientSuite, transcript, endedAt, { strict }) };
}

/** Returns the transcript of a client, which the checks of its area read. */
export function toClientTranscript(
  options: Pick<ClientJudgmentOptions, 'recording' | 'target' | 'kitVersion' | 'isInterrupted'>,
): Transcript {
  const { recording, target, kitVersion, isInterrupted = false } = options;
  const { startedAt, apiKeyHeader, exchanges, droppedRequests } = recording;
  const run: RunRecord = {
    record: 'run',
    kitVersion,
    suite: SUITE_NAME,
    target,
    seed: 'none',
    startedAt,
    areas: [...clientArea],
    allowHttp: true,
    keyGiven: exchanges.some(({ request }) => (request.headers[apiKeyHeader] ?? '') !== ''),
    concurrency: 1,
    apiKeyHeader,
    ...(droppedRequests > 0 && { droppedRequests }),
    ...(isInterrupted && { interrupted: true }),
  };
  return { run, exchanges: exchanges.map(toExchange) };
}
