import type { ResendOptions, ResendSource } from '../conformance/index.ts';
import {
  isMessage,
  type CheckReport,
  type ResendReport,
  type SimulationReport,
} from '../src/contract/index.ts';
import { withDefaults, type SpellOption } from '../src/options/table.ts';
import { systemClock } from '../src/platform/clock.ts';
import { describeType, isObject, parseJson } from '../src/platform/json.ts';
import { formatList } from '../src/report-kit/format.ts';
import { isLoopbackUrl } from '../src/platform/loopback.ts';
import { randomSeed } from '../src/platform/random.ts';
import { resendOptions } from '../conformance/options.ts';
import { connectionOf } from './connection.ts';
import { readFilledFile } from './input/files.ts';
import { kitVersion } from './kit-version.ts';
import { parseRecording } from './recording.ts';
import type { Conformance } from './packages.ts';

/** A report with requests. */
export interface ResendInput {
  /** The file that contains it; without one, messages call it the report. */
  path?: string;
  report?: CheckReport | SimulationReport;
  transcript?: ReturnType<Conformance['readTranscript']>;
}

/**
 * Reads a JSON report of `check` or `simulate`, or a recording.
 *
 * @throws {SandboxKitError} if it can't be read. @throws {ResendError} if it is something else.
 */
export function readResendInput(
  path: string,
  spell: SpellOption,
  conformance: Conformance,
): ResendInput {
  const option = spell('report');
  const text = readFilledFile(path, option, RESEND_FILE);
  const value = parseJson(text);
  if (isMessage('CheckReport', value) || isMessage('SimulationReport', value)) {
    return { path, report: value };
  }
  const [firstLine = ''] = text.split('\n', 1);
  if (isMessage('RunRecord', parseJson(firstLine))) {
    return { path, transcript: parseRecording(text, { path, option }, conformance) };
  }
  throw new conformance.ResendError(
    `${option} must be ${RESEND_FILE}, but ${path} is ${describeOther(value)}. To write a report, run sandbox-kit check URL --json report.json.`,
  );
}

/** The files that have requests. */
export const RESEND_FILE = 'a file of sandbox-kit check --json, check --record, or simulate --json';

/** Says what a file without requests is. */
function describeOther(value: unknown): string {
  if (isMessage('LoadReport', value)) return 'a report of sandbox-kit load';
  if (isMessage('ResendReport', value)) return 'a report of sandbox-kit resend';
  if (value === undefined) return 'not JSON';
  if (!isObject(value)) return `a JSON file with ${describeType(value)}`;
  const names = Object.keys(value).map((name) => JSON.stringify(name.slice(0, NAME_LENGTH_MAX)));
  if (names.length === 0) return 'a JSON object without fields';
  return `a JSON object with other fields: ${formatList(names, LISTED_MAX)}`;
}

/** The longest name of a field in a message. */
const NAME_LENGTH_MAX = 40;

/** The most exchanges or fields that a message lists. */
const LISTED_MAX = 4;

/**
 * Returns the request that is sent again.
 *
 * @throws {ResendError} if the report does not contain it.
 */
export function findRequest(
  { path, report, transcript }: ResendInput,
  { exchange, apiKey }: Pick<ResendOptions, 'exchange' | 'apiKey'>,
  spell: SpellOption,
  conformance: Conformance,
): ResendSource {
  const { findInRecording, findInReport, findInSimulation, isTurnAddress, ResendError } =
    conformance;
  // Most messages start with it.
  const name = path ?? 'The report';
  if (isMessage('SimulationReport', report)) {
    return findInSimulation(report, String(exchange), { name, hasKey: apiKey !== undefined });
  }
  const text = String(exchange);
  const id = Number(text);
  if (!Number.isSafeInteger(id) || id < 1) {
    const ids = transcript
      ? transcript.exchanges.map((each) => each.id)
      : (report?.resendable?.exchanges ?? []).map((row) => row.exchange.id);
    const sentences = [
      `${spell('exchange')} must be the number of an exchange of ${path ?? 'the report'}, got ${JSON.stringify(text)}.`,
      ...(isTurnAddress(text)
        ? ['It names a turn, and only reports of sandbox-kit simulate have turns.']
        : []),
      ...(ids.length > 0
        ? [
            `${name} contains ${ids.length === 1 ? 'exchange' : 'exchanges'} ${formatList(ids.map(String), LISTED_MAX)}.`,
          ]
        : []),
    ];
    throw new ResendError(sentences.join(' '));
  }
  if (transcript) return findInRecording(transcript, id, name);
  return findInReport(report as CheckReport, id, name);
}

/**
 * Returns the URL to send to, and whether a secret goes there.
 *
 * @throws {ResendError} if the host is not that of the run and the options do not allow it.
 */
export function findTarget(
  { run, before }: ResendSource,
  {
    url = run.target,
    allowOtherHost,
    headers,
  }: Pick<ResendOptions, 'url' | 'allowOtherHost'> & {
    headers?: unknown;
  },
  spell: SpellOption,
  { needsCredentials, ResendError }: Conformance,
): { target: string; hasSecret: boolean } {
  const hasSecret = needsCredentials(before.request) || headers !== undefined;
  const isOther = new URL(url).host !== new URL(run.target).host && !isLoopbackUrl(url);
  if (isOther && hasSecret && !allowOtherHost) {
    throw new ResendError(
      `The API key would be sent to ${new URL(url).host}, but the run was about ${run.target}. Use ${spell('allowOtherHost')} if that is what you want.`,
    );
  }
  return { target: url, hasSecret };
}

/** Sends a request of a run again with valid options. */
export async function runResend(
  source: ResendSource,
  target: string,
  options: Omit<ResendOptions, 'report' | 'exchange'>,
  spell: SpellOption,
): Promise<ResendReport> {
  const { resendExchange } = await import('../conformance/index.ts');
  const { timeoutMs } = withDefaults(resendOptions, options);
  return resendExchange({
    source,
    target,
    spell,
    timeoutMs,
    apiKey: options.apiKey,
    ca: options.ca,
    signal: options.signal,
    connection: connectionOf(options),
    seed: randomSeed(),
    kitVersion: kitVersion(),
    clock: systemClock,
    scoreReply: source.simulated && (await import('../src/service/index.ts')).scoreReply,
  });
}
