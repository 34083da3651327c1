/** The queries of the filters, with values of the listed sessions that tell wrong filters apart. */
import { resolvePointer } from '../../../../src/contract/index.ts';
import { HOUR_MS, instantMs, isoTime } from '../../../../src/platform/clock.ts';
import { RESENT_OFFSET_MS } from '../close/planned-conversations.ts';
import type { ServiceContext, ServiceProbeContext } from '../context.ts';
import {
  type NameFilter,
  objectsAt,
  type ResultsEndpoint,
  type ResultsObject,
} from '../results-api.ts';
import {
  middleSessionMs,
  seedEvals,
  seededAgentName,
  sharedEvalPart,
  uploadRunName,
} from '../seeds.ts';
import { createConversation } from '../spans.ts';
import type { ResultsStep, Wildcard } from '../steps.ts';
import { NO_FRACTION_STEP, OFFSET_STEP, TIME_AND_EVAL_STEP } from './evidence.ts';
import { nameAndEvalStep } from './filtering.ts';

/** The parameters of a read. */
export type Query = Record<string, string>;

/** The step of each read, and its parameters. */
export type QueryByStep = readonly (readonly [ResultsStep, Query])[];

/** The name filter of each endpoint, and a step for values that only occur in another field. */
const nameFilterOf = {
  production: {
    filter: 'run',
    step: 'run by session id',
    otherField: 'source_session_id',
  },
  simulations: { filter: 'agent', step: 'agent by scenario', otherField: 'scenario' },
} as const;

/** Returns the filters to test with the listed sessions. A query with an empty value is skipped. */
export function createFilterQueries(
  { service }: ServiceProbeContext,
  endpoint: ResultsEndpoint,
  sessions: readonly ResultsObject[],
  { started_after: start = '', started_before: end = '' }: Query,
): QueryByStep {
  const { filter, step, otherField } = nameFilterOf[endpoint];
  const runName = endpoint === 'production' ? uploadRunName(service) : seededAgentName(service);
  const listedName = textAt(sessions[0], `/${filter}`);
  const listedEval = chooseEval(sessions);
  // Another eval scored a session that fails.
  const [firstEval, secondEval] = seedEvals(service);
  const seededEval = endpoint === 'production' ? firstEval : secondEval;
  const name = trimEnds(service.hasControlApi ? runName : listedName);
  const evalName = trimEnds(service.hasControlApi ? seededEval.name : listedEval);
  const sharedName = service.hasControlApi ? trimEnds(sharedEvalPart(service)) : evalName;
  const bound = chooseTimeBound(service, endpoint, sessions);
  return [
    [`${filter} none`, { [filter]: 'no such name' }],
    [nameAndEvalStep(filter), { [filter]: name, eval: 'no such eval' }],
    [filter, { [filter]: name.toUpperCase() }],
    ['eval', { eval: evalName.toUpperCase() }],
    ...createWildcardQueries(filter, name, ['%', '.']),
    ...createWildcardQueries('eval', evalName, ['%', '_']),
    [step, { [filter]: findForeignText(sessions, filter, otherField) }],
    ['eval by category', { eval: findOutcomeText(sessions, 'eval_category') }],
    ['eval by reasoning', { eval: findOutcomeText(sessions, 'reasoning') }],
    ['started after', { started_after: bound }],
    ['started before', { started_before: bound }],
    // Most sessions have two evals with this part of a name, and are listed only once. It is in the middle.
    [TIME_AND_EVAL_STEP, { started_after: bound, eval: sharedName }],
    [
      OFFSET_STEP,
      { started_after: withOffset(bound, 2), ...(end && { started_before: withOffset(end, -3) }) },
    ],
    [
      NO_FRACTION_STEP,
      {
        eval: evalName,
        failed_only: 'true',
        ...(start && { started_after: withoutFraction(start) }),
        ...(end && { started_before: withoutFraction(end) }),
      },
    ],
  ];
}

/** Returns the text at a pointer of a session, or an empty string without a text there. */
export function textAt(session: ResultsObject | undefined, pointer: string): string {
  const value = resolvePointer(session, pointer);
  return typeof value === 'string' ? value : '';
}

/** Removes the first and last character, so that only a substring match finds the text. */
const trimEnds = (text: string): string => (text.length > 2 ? text.slice(1, -1) : text);

/** Replaces the character in the middle by wildcards, which must match only themselves. */
function createWildcardQueries(
  filter: NameFilter,
  text: string,
  wildcards: readonly Wildcard[],
): QueryByStep {
  const middle = Math.floor(text.length / 2);
  return wildcards.map((wildcard) => {
    const value =
      text.length < 2 ? '' : `${text.slice(0, middle)}${wildcard}${text.slice(middle + 1)}`;
    return [`${filter} with ${wildcard}`, { [filter]: value }];
  });
}

/** Returns a text from another field that no name contains, or an empty string. */
function findForeignText(
  sessions: readonly ResultsObject[],
  filter: NameFilter,
  otherField: string,
): string {
  const names = sessions.map((session) => textAt(session, `/${filter}`).toLowerCase());
  const isForeign = (text: string): boolean =>
    text.length > 2 && !names.some((name) => name.includes(text.toLowerCase()));
  return (
    sessions.map((session) => trimEnds(textAt(session, `/${otherField}`))).find(isForeign) ?? ''
  );
}

/** A part of a reasoning that fits in a URL. */
const TEXT_LENGTH_MAX = 40;

/** Returns a text of an outcome that no eval's name contains, or an empty string. */
function findOutcomeText(
  sessions: readonly ResultsObject[],
  field: 'eval_category' | 'reasoning',
): string {
  const outcomes = sessions.flatMap((session) => objectsAt(session, 'eval_outcomes'));
  const names = outcomes.map((outcome) => textAt(outcome, '/eval_name').toLowerCase());
  const texts = outcomes.map((outcome) =>
    trimEnds(textAt(outcome, `/${field}`))
      .slice(0, TEXT_LENGTH_MAX)
      .trim(),
  );
  const isForeign = (text: string): boolean =>
    text.length > 2 && !names.some((name) => name.includes(text.toLowerCase()));
  return texts.find(isForeign) ?? '';
}

/** Writes a time without its fraction if it is a whole second. */
const withoutFraction = (time: string): string => time.replace('.000Z', 'Z');

/** Writes a time with an offset of some hours, such as +02:00, instead of Z. */
function withOffset(time: string, hours: number): string {
  const ms = instantMs(time);
  const offset = `${hours < 0 ? '-' : '+'}0${Math.abs(hours)}:00`;
  return ms === undefined ? '' : isoTime(ms + hours * HOUR_MS).replace('Z', offset);
}

/**
 * Returns the name of an eval by which many wrong filters can be told apart: one that failed in a
 * session, is not the first of a session, and did not score every session.
 */
function chooseEval(sessions: readonly ResultsObject[]): string {
  const outcomesOf = (session: ResultsObject) => objectsAt(session, 'eval_outcomes');
  const nameOf = (outcome: ResultsObject | undefined): string => textAt(outcome, '/eval_name');
  const describe = (name: string): number => {
    const scored = sessions.filter((session) =>
      outcomesOf(session).some((outcome) => nameOf(outcome) === name),
    );
    const hasFailed = scored.some((session) =>
      outcomesOf(session).some(
        (outcome) => nameOf(outcome) === name && outcome['outcome'] !== 'pass',
      ),
    );
    const isLater = scored.some((session) => nameOf(outcomesOf(session)[0]) !== name);
    return [hasFailed, isLater, scored.length < sessions.length].filter(Boolean).length;
  };
  const names = [...new Set(sessions.flatMap(outcomesOf).map(nameOf))].filter(
    (name) => name !== '',
  );
  return names.toSorted((left, right) => describe(right) - describe(left))[0] ?? '';
}

/** A session this long has a middle that differs from its start and end in any precision. */
const LONG_SESSION_MS = 5_000;

/**
 * Returns the time for `started_after` and `started_before`. It is the exact start of a session of
 * the run if one is listed. Otherwise listed times may be rounded, so it is a time in the middle of
 * another session.
 */
function chooseTimeBound(
  service: ServiceContext,
  endpoint: ResultsEndpoint,
  sessions: readonly ResultsObject[],
): string {
  const exactMs = findExactStartMs(service, endpoint, sessions);
  if (exactMs !== undefined) return isoTime(exactMs);
  const middle = Math.floor(sessions.length / 2);
  const fromMiddle = [...sessions.slice(middle), ...sessions.slice(0, middle).reverse()];
  const [insideMs] = fromMiddle.flatMap((session) => {
    const startMs = instantMs(textAt(session, '/started_at'));
    const endMs = instantMs(textAt(session, '/ended_at'));
    const isLong =
      startMs !== undefined && endMs !== undefined && endMs - startMs > LONG_SESSION_MS;
    return isLong ? [(startMs + endMs) / 2] : [];
  });
  return insideMs === undefined ? textAt(sessions[middle], '/started_at') : isoTime(insideMs);
}

/** Returns the start of a session of the run; undefined if no such session is listed. */
function findExactStartMs(
  service: ServiceContext,
  endpoint: ResultsEndpoint,
  sessions: readonly ResultsObject[],
): number | undefined {
  if (endpoint === 'simulations') {
    return service.hasControlApi ? middleSessionMs(service) : undefined;
  }
  const { id, startMs } = createConversation(service, 're-sent', { offsetMs: RESENT_OFFSET_MS });
  return sessions.some((session) => session['source_session_id'] === id) ? startMs : undefined;
}
