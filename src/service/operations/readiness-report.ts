import type {
  CheckReport,
  LoadReport,
  ReadinessArea,
  ReadinessFact,
  ReadinessPartReport,
  ReadinessReport,
  ReadinessScenario,
  ReadinessTarget,
} from '../../contract/index.ts';
import { isSameUrl } from '../../platform/base-url.ts';
import { isoTime } from '../../platform/clock.ts';
import { formatList } from '../../report-kit/format.ts';
import { summarizeTurnTaking } from '../../voice/turn-taking/summarize.ts';
import { groupUnpassed, listSharedReasons } from '../runs/reasons.ts';
import { listRunTurnTaking } from '../runs/turn-taking-facts.ts';
import type { AgentReport, Store } from '../store/store.ts';
import type { AgentReadiness } from './agent-readiness.ts';
import { findCure } from './agents.ts';
import type { ConnectionReport } from './kit-functions.ts';
import { LOAD_TARGETS_MAX } from './read-agent-report.ts';
import { listVersions } from './outdated-evidence.ts';
import type { ReadinessPart } from './readiness-part.ts';
import { explainUnpassed, UNPASSED_MAX } from './simulation-readiness.ts';

/** The most causes, targets, and scenarios of a part. */
const CAUSES_MAX = 10;
const ROWS_MAX = LOAD_TARGETS_MAX;
/** The most load tests in the history of a target. */
const LOAD_TESTS_MAX = 20;
/** The most requirements that are named for a cause. */
const IDS_MAX = 10;
/** How many scenarios, and sessions of each, are read to see how the agent takes turns in calls. */
const CALLS_MAX = { scenarios: 20, sessions: 5 };

const REASON_LENGTH_MAX = 500;

/** Returns the readiness of an agent, with what the newest reports say in detail. */
export async function reportReadiness(
  { store }: { store: Pick<Store, 'agentReports' | 'runs'> },
  ownerId: string,
  readiness: AgentReadiness,
): Promise<ReadinessReport> {
  const { agent, asOfMs, parts } = readiness;
  const { headline, reasons } = describeReadiness(readiness);
  const described = parts.map(async (part) => {
    // A report about another URL says nothing about this agent.
    const { report } = part;
    const found =
      report && isSameUrl(report.summary.target, agent.url)
        ? await store.agentReports.find(ownerId, agent.id, report.id)
        : undefined;
    const described = describePart(part, found);
    if (part.scenarios) {
      const facts = await listTurnTaking(store, ownerId, part.scenarios);
      const scenarios = await explainScenarios(store, ownerId, described.scenarios ?? []);
      return { ...described, scenarios, ...(facts.length > 0 && { turn_taking: facts }) };
    }
    if (found?.kind !== 'load') return described;
    const reports = await store.agentReports.listOfKind(ownerId, found, LOAD_TESTS_MAX);
    return { ...described, targets: listTargets(found.report as LoadReport, agent.url, reports) };
  });
  return {
    agent: { id: agent.id, name: agent.name, url: agent.url },
    readiness: READINESS[readiness.readiness],
    sentence: `${headline} ${reasons}`.trim(),
    as_of: asOfMs === undefined ? null : isoTime(asOfMs),
    parts: await Promise.all(described),
  };
}

/** Returns how the agent takes turns in the newest calls of scenarios; empty without a call. */
async function listTurnTaking(
  { runs }: Pick<Store, 'runs'>,
  ownerId: string,
  scenarios: readonly ReadinessScenario[],
): Promise<ReadinessFact[]> {
  const read = scenarios
    .slice(0, CALLS_MAX.scenarios)
    .map(({ run_id: id, scenario_id: scenarioId }) =>
      runs.listSamples(
        { ownerId, kind: 'simulation', id, scenarioId },
        ['passed', 'failed', 'undecided'],
        CALLS_MAX.sessions,
      ),
    );
  const sessions = (await Promise.all(read)).flat();
  const calls = sessions.flatMap(({ simulated }) => simulated?.turn_taking ?? []);
  return listRunTurnTaking(summarizeTurnTaking(calls)).map(([name, value]) => ({ name, value }));
}

/** Adds the most frequent reason to the scenarios that did not pass. */
async function explainScenarios(
  store: Pick<Store, 'runs'>,
  ownerId: string,
  scenarios: readonly ReadinessScenario[],
): Promise<ReadinessScenario[]> {
  const unpassed = scenarios.filter(({ verdict }) => verdict !== 'passed');
  const explained = new Set(unpassed.slice(0, UNPASSED_MAX.scenarios));
  const add = async (scenario: ReadinessScenario): Promise<ReadinessScenario> => {
    if (!explained.has(scenario)) return scenario;
    const [group = []] = groupUnpassed(await explainUnpassed(store, ownerId, scenario));
    const [first] = listSharedReasons(group);
    const reason = first?.slice(0, REASON_LENGTH_MAX).toWellFormed();
    return reason === undefined ? scenario : { ...scenario, reason };
  };
  return Promise.all(scenarios.map(add));
}

const READINESS = { yes: 'ready', no: 'not_ready', unknown: 'not_judged' } as const;

/** Returns whether an agent is ready in a few words, and why not. */
export function describeReadiness({ parts, readiness }: AgentReadiness): {
  headline: string;
  reasons: string;
} {
  if (readiness === 'yes') return { headline: describeCoverage(parts), reasons: '' };
  if (readiness === 'unknown') {
    const open = parts.filter(({ standing }) => standing !== 'pass');
    const missing = open.filter(({ atMs }) => atMs === undefined);
    const judged = open.filter(({ atMs }) => atMs !== undefined);
    const names = formatList(missing.map(({ name }) => name.toLowerCase()));
    const absence = missing.length === 0 ? [] : [`evidence is missing for ${names}.`];
    return {
      headline: 'Not judged yet:',
      reasons: [...absence, ...nameVerdicts(judged)].join(' '),
    };
  }
  const failed = parts.filter(({ standing }) => standing === 'fail');
  return { headline: 'Not ready:', reasons: nameVerdicts(failed).join(' ') };
}

/** Says what the evidence of a ready agent covers: an agent need not have voice. */
function describeCoverage(parts: readonly ReadinessPart[]): string {
  const findSummary = (id: ReadinessPart['id']) =>
    parts.find((part) => part.id === id)?.report?.summary;
  if (findSummary('check')?.judgesVoice === true) return 'Ready for text; voice passed the check.';
  return findSummary('connection')?.hasVoice === false
    ? 'Ready for text; the sandbox has no voice endpoint.'
    : 'Ready for text; voice not tested.';
}

const nameVerdicts = (parts: readonly ReadinessPart[]): string[] =>
  parts.map(({ name, verdict }) => `${name}: ${verdict.toLowerCase()}.`);

function describePart(
  part: ReadinessPart,
  found: (AgentReport & { report: object }) | undefined,
): ReadinessPartReport {
  const { id, name, standing, verdict, detail, report, attempt, atMs, scenarios } = part;
  const versions = listVersions(part.builds ?? []);
  const nextStep = standing === 'pass' ? undefined : findNextStep(part, found);
  return {
    id,
    name,
    standing,
    verdict,
    detail,
    ...(atMs !== undefined && { ended_at: isoTime(atMs) }),
    ...(versions.length > 0 && { agent_versions: versions }),
    ...(part.outdated !== undefined && { outdated: part.outdated }),
    ...(report && { kit_version: report.summary.kitVersion }),
    ...(attempt?.kind === id && {
      newest_attempt: {
        ended_at: attempt.summary.endedAt,
        verdict: attempt.summary.verdict,
        detail: attempt.summary.detail,
      },
    }),
    ...(found?.kind === 'check' && describeCheck(found.report as CheckReport)),
    ...(scenarios && { scenarios: scenarios.slice(0, ROWS_MAX) }),
    ...(nextStep !== undefined && { next_step: nextStep }),
  };
}

function describeCheck({
  requirementSet,
  requirements,
  causes,
}: CheckReport): Partial<ReadinessPartReport> {
  const byArea = Map.groupBy(
    requirements.filter(({ verdict }) => verdict !== 'not_selected'),
    ({ area }) => area,
  );
  const fixFirst = causes
    .slice(0, CAUSES_MAX)
    .map(({ description, clears }) => `${description}: clears ${formatList(clears, IDS_MAX)}.`);
  return {
    ...(requirementSet !== undefined && { requirement_set: requirementSet }),
    areas: [...byArea].map(([area, rows]) => countArea(area, rows)),
    ...(fixFirst.length > 0 && { fix_first: fixFirst }),
  };
}

/** Counts the verdicts of an area. Rules that do not apply to an agent are not counted. */
function countArea(area: string, rows: CheckReport['requirements']): ReadinessArea {
  const count = (...verdicts: CheckReport['requirements'][number]['verdict'][]): number =>
    rows.filter(({ verdict }) => verdicts.includes(verdict)).length;
  return {
    area,
    passed: count('pass', 'note'),
    failed: count('fail', 'error'),
    warned: count('warn'),
    not_judged: count('blocked', 'not_observed'),
  };
}

/** Returns the targets of a load test, each with what the valid load tests of this URL measured. */
function listTargets(
  { targets }: LoadReport,
  url: string,
  reports: readonly AgentReport[],
): ReadinessTarget[] {
  const tests = reports
    .filter(({ summary }) => isSameUrl(summary.target, url) && summary.judgesNothing !== true)
    .sort((left, right) => Date.parse(left.summary.endedAt) - Date.parse(right.summary.endedAt));
  return targets
    .slice(0, ROWS_MAX)
    .map(({ statement, verdict, target, measured, unit, reason }) => {
      const history = tests.flatMap(({ summary }) => {
        const found = summary.targets?.find((other) => other.statement === statement);
        return found
          ? [{ ended_at: summary.endedAt, measured: found.measured, verdict: found.verdict }]
          : [];
      });
      return {
        statement,
        verdict,
        target,
        measured,
        unit,
        reason,
        ...(history.length > 1 && { history }),
      };
    });
}

/** Advice about a part that was not run, and about one that did not pass. */
const NEXT_STEPS = {
  connection: ['Check the connection.', 'Fix the connection, and check it again.'],
  check: ['Run a check.', 'Fix the causes, and run the check again.'],
  load: ['Run a load test.', 'See the targets that were missed, and run the load test again.'],
  simulations: ['Run scenarios.', 'See the sessions that failed, and run the scenarios again.'],
} as const;

function findNextStep(
  { id, standing, atMs, report, run, outdated }: ReadinessPart,
  found: (AgentReport & { report: object }) | undefined,
): string {
  const { blockedBy } = (found?.report ?? {}) as Partial<
    ConnectionReport | CheckReport | LoadReport
  >;
  const [first, again] = NEXT_STEPS[id];
  if (outdated !== undefined) return first;
  if (blockedBy) return id === 'connection' ? blockedBy.cure : findCure(blockedBy);
  const isDone = id === 'connection' ? atMs !== undefined : standing === 'fail' && (report ?? run);
  return isDone ? again : first;
}
