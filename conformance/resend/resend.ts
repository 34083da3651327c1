/** Sends one request of a run again, alone, and judges the response. */
import {
  isMessage,
  resolvePointer,
  type ExchangeRecord,
  type ResendReport,
  type ResentEval,
} from '../../src/contract/index.ts';
import type { SpellOption } from '../../src/options/table.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { secretsOf } from '../../src/platform/connection.ts';
import { createTraceparents } from '../../src/platform/trace-context.ts';
import { suiteOf } from '../areas/index.ts';
import { createHttpClient } from '../engine/drive/http-client.ts';
import { createRecorder, toRecordedRequest } from '../engine/drive/recorder.ts';
import { createInterruption, deadlineMsOf } from '../engine/drive/run.ts';
import { isUp } from '../engine/transcript/crashes.ts';
import { isInterrupted } from '../engine/transcript/failure-messages.ts';
import { describeOutcome, isAccepted, isUnsent } from '../engine/transcript/reading.ts';
import type { Exchange } from '../engine/transcript/transcript.ts';
import { sendTogether } from './companions.ts';
import { concludeEvals } from './conclude-evals.ts';
import { companionsOf, describePrefix, describeUnsent, judgeAgain } from './judge-again.ts';
import { findPreparations, userIdOf, type Preparation } from './preparation.ts';
import { findGap, rebuildRequest, type Credentials } from './rebuild.ts';
import type { ResendSource } from './source.ts';

/** How to send a request again. */
export interface ResendSettings extends Credentials {
  source: ResendSource;
  /** Base URL of the sandbox. */
  target: string;
  /** The random seed of the trace ids. */
  seed: string;
  kitVersion: string;
  clock: Clock;
  timeoutMs: number;
  ca: string | undefined;
  /** Gives the requests up. */
  signal: AbortSignal | undefined;
  /** Names options in messages. */
  spell: SpellOption;
  /** Scores the evals of a simulated session with a new reply. */
  scoreReply: ScoreReply | undefined;
}

/** Scores the evals that a simulated session did not pass, with the new response to a turn. */
export type ScoreReply = (
  turn: NonNullable<ResendSource['simulated']> & {
    response: { status: number; contentType: string | undefined; json: unknown; latencyMs: number };
  },
  signal: AbortSignal,
) => Promise<ResentEval[]>;

type SideRequest = ResendReport['prepared'][number];

/**
 * Sends a recorded request again. First it sends the requests on which it depends; afterward it deletes
 * the users that these requests created.
 *
 * @throws {ResendError} if a credential of the request is missing. Nothing is sent then.
 */
export async function resendExchange(settings: ResendSettings): Promise<ResendReport> {
  const { source, target, kitVersion } = settings;
  const { before, run } = source;
  const companions = companionsOf(source);
  const steps = findSteps(source);
  const needed = [...steps.map(({ exchange }) => exchange), ...companions, before];
  const base = {
    kitVersion,
    target,
    prepared: [],
    requirements: [],
    cleanedUp: [],
    ...((before.response ?? before.failure) && { before: toRecord(before) }),
  };
  const gap = findMissing(source) ?? firstOf(needed, (exchange) => findGap(exchange, run));
  if (gap !== undefined) return { ...base, verdict: 'not-judged', exitCode: 3, sentence: gap };
  using interruption = createInterruption(settings.signal);
  rejectMissingCredentials(source, settings);
  const sender = createResender(settings, interruption.signal);
  const state = createState(settings, steps, sender);
  try {
    const failed = await state.prepare();
    if (failed !== undefined) {
      const cleanedUp = await state.cleanUp();
      const { prepared } = state;
      return { ...base, prepared, cleanedUp, verdict: 'not-judged', exitCode: 3, sentence: failed };
    }
    const group = await sendTogether([before, ...companions], (exchange) =>
      sender.send(exchange, exchange.connection),
    );
    const [sent = before, ...others] = group;
    for (const exchange of group.toSorted((a, b) => a.id - b.id)) state.note(exchange);
    const health =
      sent.failure && !isUnsent(sent) ? await sender.send(healthRequest(before)) : undefined;
    const stillResponds = health && isUp(health);
    const cleanedUp = stillResponds === false || isUnsent(sent) ? [] : await state.cleanUp();
    const judged = isInterrupted(sent)
      ? INTERRUPTED_VERDICT
      : judgeAgain(suiteOf(run), source, {
          target,
          now: sent,
          others,
          hasStopped: stillResponds === false,
        });
    const evals = await scoreEvals(settings, sent, interruption.signal);
    const { verdict, sentence } = evals ? concludeEvals(judged, evals) : judged;
    return {
      ...base,
      verdict,
      sentence,
      requirements: judged.requirements,
      ...(evals && evals.length > 0 && { evals }),
      exitCode: { conforming: 0 as const, 'not-conforming': 1 as const, 'not-judged': 3 as const }[
        verdict
      ],
      prepared: state.prepared,
      exchange: toRecord(sent),
      ...(others.length > 0 && {
        together: others.map((other) => ({
          exchange: other.id,
          ...toSide(other, relationOf(other, before, source)),
        })),
      }),
      ...(stillResponds !== undefined && { stillResponds }),
      cleanedUp,
    };
  } finally {
    await sender.close();
  }
}

const firstOf = <Item, Result>(
  items: readonly Item[],
  find: (item: Item) => Result | undefined,
): Result | undefined => items.map(find).find((each) => each !== undefined);

/** Returns what the request and those that are sent with it depend on, in order. */
function findSteps(source: ResendSource): Preparation[] {
  const group = [source.before, ...companionsOf(source)];
  const steps = new Map<number, Preparation>();
  for (const member of group) {
    for (const step of findPreparations(member, source.exchanges)) {
      if (!group.some(({ id }) => id === step.exchange.id)) steps.set(step.exchange.id, step);
    }
  }
  return [...steps.values()].sort((a, b) => a.exchange.id - b.exchange.id);
}

/** Returns why the requests of a requirement can't be sent together; undefined if they can. */
function findMissing({
  run,
  exchanges,
  companions = [],
  breaks,
}: ResendSource): string | undefined {
  const missing = companions.find(
    (number) => !exchanges.some(({ id, call }) => id === number && !call),
  );
  return missing === undefined
    ? undefined
    : `The failure is also about exchange ${missing}, which is not stored. Run sandbox-kit check ${run.target} --only ${breaks.join(',')}`;
}

/** Says when another request is sent, relative to the request. */
function relationOf({ id }: Exchange, before: Exchange, { exchanges }: ResendSource): string {
  const other = exchanges.find((each) => each.id === id);
  if (!other || (other.startedMs < before.endedMs && other.endedMs > before.startedMs)) {
    return 'at the same moment';
  }
  return other.endedMs <= before.startedMs ? 'sent before it' : 'sent after it';
}

/** Scores the evals of a simulated session; undefined if there is none, or no response. */
async function scoreEvals(
  { source: { simulated }, scoreReply }: ResendSettings,
  { response, json, startedMs, endedMs }: Exchange,
  signal: AbortSignal,
): Promise<ResentEval[] | undefined> {
  if (!simulated || !scoreReply || !response) return undefined;
  const { status, headers } = response;
  const reply = { status, contentType: headers['content-type'], json };
  return scoreReply(
    { ...simulated, response: { ...reply, latencyMs: endedMs - startedMs } },
    signal,
  );
}

/**
 * Finds a missing credential before anything is sent.
 *
 * @throws {ResendError} about the first one.
 */
export function rejectMissingCredentials(
  source: ResendSource,
  settings: Credentials & { spell: SpellOption },
): void {
  const steps = findSteps(source).map(({ exchange }) => exchange);
  for (const exchange of [...steps, ...companionsOf(source), source.before]) {
    rebuildRequest(exchange, settings, { ...settings, traceparent: '' });
  }
}

const INTERRUPTED_VERDICT = {
  verdict: 'not-judged' as const,
  sentence: 'The request was interrupted.',
  requirements: [],
};

const toRecord = ({ json: _json, sent: _sent, ...record }: Exchange): ExchangeRecord => record;

/** A request that the run did not record, with the headers of another one. */
const requestLike = (
  { request, ...like }: Exchange,
  method: string,
  path: string,
): Omit<Exchange, 'json' | 'sent'> => {
  const { 'content-type': _type, 'content-encoding': _encoding, ...headers } = request.headers;
  return { ...like, request: { method, path, headers } };
};

const healthRequest = (like: Exchange): Exchange => ({
  ...requestLike(like, 'GET', '/health'),
  endpoint: 'health',
  json: undefined,
  sent: undefined,
});

const deletion = (like: Exchange, userId: string): Exchange => ({
  ...requestLike(like, 'DELETE', `/users/${encodeURIComponent(userId)}`),
  endpoint: 'delete',
  json: undefined,
  sent: undefined,
});

/** The users that requests create: before the request is sent, and to be deleted afterward. */
interface State {
  /** Requests that were sent before. */
  readonly prepared: SideRequest[];
  /** Sends the requests that the request depends on. Returns why this failed. */
  prepare(): Promise<string | undefined>;
  note(exchange: Exchange): void;
  /** Deletes the users that were created. */
  cleanUp(): Promise<SideRequest[]>;
}

function createState(
  { source, target }: Pick<ResendSettings, 'source' | 'target'>,
  steps: readonly Preparation[],
  sender: Sender,
): State {
  const { before, simulated } = source;
  const group = [before, ...companionsOf(source)];
  const isNumbered = simulated === undefined;
  const prepared: SideRequest[] = [];
  const existing = new Set<string>();
  // A request with the wrong key can't delete a user.
  const like = steps.find(({ exchange }) => exchange.endpoint === 'create')?.exchange ?? before;
  const note = (exchange: Exchange): void => {
    const { endpoint, json } = exchange;
    const created = resolvePointer(json, '/user_id');
    const userId = userIdOf(exchange) ?? (typeof created === 'string' ? created : undefined);
    if (userId === undefined || userId === '') return;
    if (endpoint === 'create' && (isAccepted(exchange) || isDuplicate(exchange))) {
      existing.add(userId);
    }
    if (endpoint === 'delete' && isAccepted(exchange)) existing.delete(userId);
  };
  return {
    prepared,
    note,
    async prepare() {
      const named = new Set(steps.map(({ exchange }) => userIdOf(exchange)));
      for (const member of group) {
        const userId = userIdOf(member);
        const isNew = member.endpoint === 'create' && member.intent === 'valid';
        if (!isNew || userId === undefined || named.has(userId)) continue;
        named.add(userId);
        const exchange = await sender.send(deletion(like, userId));
        prepared.push(toSide(exchange, 'makes sure that the user does not exist'));
      }
      for (const { exchange, purpose } of steps) {
        const sent = await sender.send(exchange, before.connection && exchange.connection);
        note(sent);
        prepared.push({ ...(isNumbered && { exchange: exchange.id }), ...toSide(sent, purpose) });
        if (isAccepted(sent) || isDuplicate(sent)) continue;
        // A refused request comes first only because of its connection.
        if (sent.response && !isAccepted(exchange)) continue;
        const problem =
          describeUnsent(sent) ?? describePrefix(source, target, { before: exchange, now: sent });
        if (problem !== undefined) return problem;
        const outcome = sent.failure?.message ?? describeOutcome(sent);
        const { method, path } = exchange.request;
        return `The request depends on ${method} ${path}, which ${purpose} and failed now: ${outcome}.`;
      }
      return undefined;
    },
    async cleanUp() {
      const requests: SideRequest[] = [];
      for (const userId of existing) {
        requests.push(toSide(await sender.send(deletion(like, userId)), 'deletes the user'));
      }
      return requests;
    },
  };
}

const toSide = (exchange: Exchange, purpose: string): SideRequest => ({
  request: `${exchange.request.method} ${exchange.request.path}`,
  outcome: describeOutcome(exchange),
  purpose,
});

/** Returns whether a user was not created because it exists. */
const isDuplicate = ({ endpoint, response, json }: Exchange): boolean =>
  endpoint === 'create' &&
  (response?.status === 409 ||
    (isMessage('SandboxError', json) && json.error.code === 'user_exists'));

/** Sends requests one after another, and records them without secrets. */
interface Sender {
  /** Sends a request on a new connection, or on the one that is kept alive. */
  send(exchange: Exchange, connection?: Exchange['connection']): Promise<Exchange>;
  close(): Promise<void>;
}

function createResender(settings: ResendSettings, interruption: AbortSignal): Sender {
  const { source, target, clock, ca, connection, apiKey, timeoutMs, seed } = settings;
  const client = createHttpClient({ target, clock, ca, connection });
  const secretHeaders = source.run.headerNames ?? [];
  const recorder = createRecorder(secretsOf(connection, apiKey), secretHeaders);
  const createTraceparent = createTraceparents(seed);
  const startedMs = clock.monotonicMs();
  return {
    async send(exchange, shared) {
      const { id, control, probe, step, endpoint, intent, properties } = exchange;
      const traceparent = createTraceparent('resend');
      const outgoing = rebuildRequest(exchange, settings, { ...settings, traceparent });
      const sentMs = clock.monotonicMs() - startedMs;
      const deadlineMs = deadlineMsOf(endpoint, timeoutMs);
      // What was created is also deleted after an interruption.
      const signal = endpoint === 'delete' ? undefined : interruption;
      const outcome = await client.send(outgoing, deadlineMs, { connection: shared, signal });
      const recorded = recorder.record({
        probe,
        step,
        endpoint,
        intent,
        ...(control !== undefined && { control }),
        ...(properties && { properties }),
        ...(shared && { connection: shared }),
        request: toRecordedRequest(outgoing),
        ...outcome,
        startedMs: sentMs,
        endedMs: clock.monotonicMs() - startedMs,
      });
      return { ...recorded, id };
    },
    close: () => client.close(),
  };
}
