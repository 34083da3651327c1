/** Judges the new response to a request of a run, by the same checks as the run. */
import type { ResendReport, RunRecord } from '../../src/contract/index.ts';
import { requirementOf, type Suite } from '../engine/area.ts';
import type { Finding } from '../engine/checks/check.ts';
import { routeNames } from '../engine/checks/route-names.ts';
import { endsInPrefix, REMOVE_PREFIX } from '../engine/preflight/missing-interface.ts';
import { areaOf, type RequirementId } from '../engine/requirement.ts';
import { isTransient } from '../engine/transcript/repetitions.ts';
import {
  describeOutcome,
  isConnectionFailure,
  isNotFound,
  isRateLimited,
  isUnsent,
  type Exchange,
  type Transcript,
} from '../engine/transcript/reading.ts';
import type { ResendSource } from './source.ts';

type Row = ResendReport['requirements'][number];

/** The verdict on a request that was sent again. */
export type Rejudgment = Pick<ResendReport, 'verdict' | 'sentence' | 'requirements'>;

/** Why a response does not decide about a requirement. */
const openReasons = {
  compared: 'It compares several requests of the run, so this response does not decide.',
  other_kind: 'It does not apply to this kind of response.',
};

type JudgedRow = Row & { open?: keyof typeof openReasons };

/**
 * Judges a new response. It is judged by the requirements that judged the exchange in the run, and by all
 * others that the run selected and that it breaks now. A requirement that compares several exchanges can't
 * be judged.
 */
export function judgeAgain(
  suite: Suite,
  source: ResendSource,
  {
    target,
    now,
    others,
    hasStopped,
  }: { target: string; now: Exchange; others: readonly Exchange[]; hasStopped: boolean },
): Rejudgment {
  const { before, breaks, judgedBy } = source;
  const reason = [now, ...others]
    .map((exchange) => findUnjudgeable(source, target, exchange))
    .find((each) => each !== undefined);
  if (reason !== undefined) return { verdict: 'not-judged', sentence: reason, requirements: [] };
  const applyNow = applyChecks(suite, source, { exchange: now, others, hasStopped });
  const isRecorded = before.response !== undefined || before.failure !== undefined;
  const applyBefore = applyChecks(suite, source, {
    exchange: before,
    others: companionsOf(source),
    hasStopped: isConnectionFailure(before),
  });
  const isCut = before.response?.bodyBytes !== undefined;
  const ids = selectedIds(suite, source, now);
  const rows = ids.flatMap((id): JudgedRow[] => {
    const { level, section, rule } = requirementOf(suite, id);
    const wasBroken = breaks.includes(id);
    const row = { id, level, section, rule, wasBroken };
    const { isEvidence, finding } = applyNow(id);
    if (finding) {
      const { pointer, expected, received, hint } = finding;
      const verdict = level === 'must' ? 'fail' : 'warn';
      return level === 'may'
        ? []
        : [{ ...row, verdict, pointer, expected, received, ...(hint !== undefined && { hint }) }];
    }
    const isShown = !isRecorded || isCut || applyBefore(id).finding !== undefined;
    if (wasBroken && !isShown) return [{ ...row, verdict: 'not_judged', open: 'compared' }];
    const isJudged = judgedBy.length === 0 || judgedBy.includes(id);
    // A request that got no response may be evidence only because of that.
    const isAnswered = wasBroken && before.failure && now.response;
    if (isEvidence || isAnswered) return isJudged ? [{ ...row, verdict: 'pass' }] : [];
    const open = others.length > 0 ? 'compared' : 'other_kind';
    return wasBroken ? [{ ...row, verdict: 'not_judged', open }] : [];
  });
  const order: readonly Row['verdict'][] = ['fail', 'warn', 'not_judged', 'pass'];
  const sorted = rows.toSorted((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
  const requirements = sorted.map(({ open, ...row }): Row => ({
    ...row,
    ...(open && { reason: openReasons[open] }),
  }));
  return { ...conclude(suite, sorted, source, now), requirements };
}

function conclude(
  suite: Suite,
  rows: readonly JudgedRow[],
  { before, exchanges, breaks, companions = [], run }: ResendSource,
  now: Exchange,
): Pick<ResendReport, 'verdict' | 'sentence'> {
  const { target } = run;
  const idsWith = (verdict: Row['verdict']): string[] =>
    rows.filter((row) => row.verdict === verdict).map(({ id }) => id);
  const failed = idsWith('fail');
  if (failed.length > 0) {
    const verb = failed.some((id) => breaks.includes(id)) ? 'still breaks' : 'breaks';
    return { verdict: 'not-conforming', sentence: `The response ${verb} ${failed.join(', ')}.` };
  }
  const open = rows.filter((row) => row.open === 'compared');
  if (open.length > 0) {
    return {
      verdict: 'not-judged',
      sentence: `This response does not decide about ${open.map(({ id }) => id).join(', ')}. Run ${checkAgain(
        target,
        open.map(({ id }) => id),
      )}`,
    };
  }
  if (isTransient(before, { exchanges }) && breaks.length > 0) {
    return {
      verdict: 'not-judged',
      sentence: `The response conforms, but in the run the request also succeeded when it was sent again alone. The fault is intermittent, or depends on other requests. Run ${checkAgain(target, breaks)}`,
    };
  }
  const warned = idsWith('warn');
  if (idsWith('pass').length === 0 && warned.length === 0) {
    const outcome = now.failure
      ? `no complete response (${describeOutcome(now)})`
      : `a response (${describeOutcome(now)})`;
    return {
      verdict: 'not-judged',
      sentence: `The request got ${outcome}, ${describeUnjudged(suite, run, now)}`,
    };
  }
  const warnings = warned.length > 0 ? `, with a warning: ${warned.join(', ')}` : '';
  const conforms = `The response conforms${breaks.length > 0 ? ' now' : ''}${warnings}.`;
  const caveat =
    companions.length > 0
      ? ` The ${companions.length + 1} requests were sent as in the run. For the verdict, run ${checkAgain(target, breaks)}`
      : breaks.length > 0
        ? ' A fault that depends on concurrent requests does not appear in a single one: run the check again for the verdict.'
        : '';
  return { verdict: 'conforming', sentence: `${conforms}${caveat}` };
}

/** Says why no requirement judges a response, after the outcome of the request. */
function describeUnjudged(
  { areas }: Suite,
  { areas: checked, selected, target }: RunRecord,
  { endpoint }: Exchange,
): string {
  const area = areas.find(({ endpoints }) => endpoints.some((each) => each === endpoint));
  if (area && !checked.includes(area.name)) {
    return `but the run checked only ${checked.join(', ')}, so none of its requirements judges ${routeNames[endpoint]}. To judge it, run sandbox-kit check ${target} --area ${area.name}`;
  }
  const ofRun = selected ? ' that the run selected' : '';
  return `and no requirement${ofRun} says what it must be.`;
}

const checkAgain = (target: string, ids: readonly string[]): string =>
  `sandbox-kit check ${target} --only ${ids.join(',')}`;

/** Returns the exchanges of the run that the findings of an exchange are about. */
export const companionsOf = ({ exchanges, companions = [] }: ResendSource): Exchange[] =>
  exchanges.filter(({ id }) => companions.includes(id));

/** Says that a request did not reach the sandbox, and what to do; undefined if it did. */
export function describeUnsent(exchange: Exchange): string | undefined {
  const { failure } = exchange;
  if (!failure || !isUnsent(exchange)) return undefined;
  return failure.kind === 'refused'
    ? `Nothing accepts connections (${failure.message}). Start the sandbox, or check the URL, and run this command again.`
    : `The request could not be sent: ${failure.message}.`;
}

/**
 * Says that a URL other than that of the run ends in /v1 and that the route is unknown there, although
 * it was known in the run; undefined otherwise.
 */
export function describePrefix(
  { run }: Pick<ResendSource, 'run'>,
  target: string,
  { before, now }: { before: Exchange; now: Exchange },
): string | undefined {
  const isSuspect = target !== run.target && endsInPrefix(target);
  if (!isSuspect || !isNotFound(now) || isNotFound(before)) return undefined;
  const { request, response } = now;
  return `${request.method} ${target}${request.path} responds with ${response?.status}. ${REMOVE_PREFIX}`;
}

/** Returns why a response says nothing about the request; undefined if it can be judged. */
function findUnjudgeable(
  { run, before }: ResendSource,
  target: string,
  now: Exchange,
): string | undefined {
  const { response } = now;
  const problem = describeUnsent(now) ?? describePrefix({ run }, target, { before, now });
  if (problem !== undefined) return problem;
  if (isRateLimited(now)) return 'The sandbox limits the rate (429). Try again later.';
  const isRefused = ({ response }: Exchange): boolean => response?.status === 401;
  const isKeyed = now.intent === 'valid' && !isRefused(before);
  return response && isKeyed && isRefused(now)
    ? 'The sandbox refuses the API key (401), which it accepted in the run. Check the key.'
    : undefined;
}

/** Returns the requirements of the run that can judge an exchange. */
function selectedIds(
  { areas, requirementIds }: Suite,
  { run, judgedBy }: ResendSource,
  { endpoint }: Exchange,
): RequirementId[] {
  const ofEndpoint = areas
    .filter(({ endpoints }) => endpoints.some((each) => each === endpoint))
    .flatMap(({ requirements }) => Object.keys(requirements));
  return requirementIds.filter(
    (id) =>
      (judgedBy.includes(id) || ofEndpoint.includes(id)) &&
      run.areas.includes(areaOf(id)) &&
      (run.selected === undefined || run.selected.includes(id)),
  );
}

/**
 * Applies checks to an exchange, next to its control and the others that its findings are about.
 * `hasStopped`: it stopped the sandbox.
 */
function applyChecks(
  { checks }: Suite,
  { run, exchanges, breaks }: ResendSource,
  {
    exchange: { repeats: _repeats, ...exchange },
    others,
    hasStopped,
  }: {
    exchange: Exchange;
    others: readonly Exchange[];
    hasStopped: boolean;
  },
): (id: RequirementId) => { isEvidence: boolean; finding: Finding | undefined } {
  const control = exchanges.filter(
    ({ id }) => id === exchange.control && !others.some((other) => other.id === id),
  );
  const suspects = [exchange];
  const crash = { downMs: 0, cameBack: true, suspects, culprits: suspects, refused: [] };
  const transcript: Transcript = {
    run,
    exchanges: [...control, ...others, exchange].sort((a, b) => a.id - b.id),
    crashes: hasStopped ? [crash] : [],
  };
  // The same pair may fail again by the other response.
  const isOfGroup = (id: RequirementId, number: number): boolean =>
    breaks.includes(id) && others.some((other) => other.id === number);
  return (id) => {
    const check = checks[id];
    const evidence = check?.evidence(transcript) ?? [];
    const findings = evidence.length === 0 ? [] : check?.judge(evidence, transcript);
    return {
      isEvidence: evidence.includes(exchange),
      finding: findings?.find(
        (each) => !each.isNote && (each.exchange === exchange.id || isOfGroup(id, each.exchange)),
      ),
    };
  };
}
