/** The source of a request that is sent again: a report, a recording, or a turn of a simulation. */
import type {
  CheckReport,
  EvidenceItem,
  RunRecord,
  SimulatedSessionReport,
} from '../../src/contract/index.ts';
import { suiteOf } from '../areas/index.ts';
import { judgeTranscript } from '../engine/judge/judge.ts';
import { isVoice } from '../engine/transcript/call-messages.ts';
import { toExchange, type Exchange, type Transcript } from '../engine/transcript/transcript.ts';
import { findVerdicts } from './excerpt.ts';

/** A request of a run, with what is needed to send it again and to judge the response. */
export interface ResendSource {
  run: RunRecord;
  /** All exchanges of the run, or those in the report. */
  exchanges: readonly Exchange[];
  /** The exchange to send again. Without response and failure, if only the request is known. */
  before: Exchange;
  judgedBy: readonly string[];
  breaks: readonly string[];
  /** The numbers of the other exchanges that its findings are about. */
  companions?: readonly number[];
  /** The turn of a simulated session, if the request is one. */
  simulated?: { session: SimulatedSessionReport; turn: number };
}

/** A request can't be sent again. The message says what to do instead. */
export class ResendError extends Error {
  override name = 'ResendError';
}

/**
 * Returns a request of a report.
 *
 * @throws {ResendError} if the report does not contain the exchange.
 */
export function findInReport(report: CheckReport, id: number, name: string): ResendSource {
  rejectOtherPeer(
    report.requirements.map(({ area }) => area),
    name,
  );
  const { resendable, target } = report;
  const named = listNamed(report);
  if (named.some((item) => item.exchange === id && isCall(item))) throw createCallError(id, target);
  if (!resendable) {
    throw new ResendError(`${name} contains no requests, ${describeAbsence(named, target)}`);
  }
  const rows = resendable.exchanges;
  const row = rows.find(({ exchange }) => exchange.id === id);
  if (!row) {
    const numbers = rows.map(({ exchange }) => exchange.id);
    throw new ResendError(
      `${name} does not contain exchange ${id}, only those of findings and crashes. ${describeNearest(numbers, id)} ${RECORD}`,
    );
  }
  const exchanges = rows.map(({ exchange }) => toExchange(exchange));
  const before = rejectCall(toExchange(row.exchange), resendable.run);
  const { judgedBy, breaks, companions = [] } = row;
  return { run: resendable.run, exchanges, before, judgedBy, breaks, companions };
}

/**
 * Returns a request of a recording.
 *
 * @throws {ResendError} if the recording does not contain the exchange.
 */
export function findInRecording(transcript: Transcript, id: number, name: string): ResendSource {
  const { run, exchanges } = transcript;
  rejectOtherPeer(run.areas, name);
  const before = exchanges.find((exchange) => exchange.id === id);
  if (!before) {
    const numbers = exchanges.map((exchange) => exchange.id);
    throw new ResendError(
      `${name} does not contain exchange ${id}. ${describeNearest(numbers, id)}`,
    );
  }
  const judgment = judgeTranscript(suiteOf(run), transcript);
  return {
    run,
    exchanges,
    before: rejectCall(before, run),
    ...findVerdicts(before, judgment, exchanges),
  };
}

const RECORD =
  'To send any request again, record the run with --record run.ndjson and pass that file.';

function rejectOtherPeer(areas: readonly string[], name: string): void {
  if (!areas.some((area) => area === 'service' || area === 'client')) return;
  throw new ResendError(
    `${name} is about a service or its client. Only requests to a sandbox can be sent again. Use the curl commands of the report; a recording (--record run.ndjson) has bodies that they shorten.`,
  );
}

/** Returns the exchanges that findings, crashes, and the cause that blocked the run name. */
const listNamed = ({ requirements, crashes = [], blockedBy }: CheckReport): EvidenceItem[] => [
  ...requirements
    .filter(({ verdict }) => verdict === 'fail' || verdict === 'warn')
    .flatMap(({ evidence }) => evidence),
  ...crashes.flatMap(({ suspects }) => suspects),
  ...(blockedBy?.evidence ?? []),
];

/** Returns whether evidence is a call. The kit requests only the voice endpoint and health with GET. */
const isCall = ({ request }: EvidenceItem): boolean =>
  request.startsWith('GET ') && request !== 'GET /health';

/** Says why a report contains no requests, and what to do. */
function describeAbsence(named: readonly EvidenceItem[], target: string): string {
  if (named.length === 0) {
    return `because the run broke no requirement, or the report is of an earlier version. ${RECORD}`;
  }
  return named.every(isCall)
    ? `because all its findings are about calls, which can't be sent again alone. ${placeCallsAgain(target)}`
    : `because the report is of an earlier version. ${RECORD}`;
}

const placeCallsAgain = (target: string): string =>
  `To place the calls again, run sandbox-kit check ${target} --area voice.`;

const createCallError = (id: number, target: string): ResendError =>
  new ResendError(
    `Exchange ${id} is a call, which can't be sent again alone. ${placeCallsAgain(target)}`,
  );

function rejectCall(exchange: Exchange, { target }: RunRecord): Exchange {
  if (isVoice(exchange)) throw createCallError(exchange.id, target);
  return exchange;
}

const NEAREST_MAX = 4;

/** Names the numbers that are nearest to an unknown one. */
function describeNearest(numbers: readonly number[], id: number): string {
  const nearest = numbers
    .toSorted((a, b) => Math.abs(a - id) - Math.abs(b - id))
    .slice(0, NEAREST_MAX)
    .sort((a, b) => a - b);
  return nearest.length === 0 ? 'It contains none.' : `The nearest are ${nearest.join(', ')}.`;
}
