import { isSameUrl } from '../../platform/base-url.ts';
import { reportKindNames, summarizeFor } from './read-agent-report.ts';
import type {
  AgentReport,
  AgentReportKind,
  CountingReport,
  RunSummary,
  StoredAgent,
  TestedBuild,
} from '../store/store.ts';
import { JUDGED_SIMULATIONS_MAX, judgeSimulations } from './simulation-readiness.ts';
import { markOutdated } from './outdated-evidence.ts';
import type { ReadinessDeps, ReadinessPart } from './readiness-part.ts';

/** Whether an agent is ready to onboard, and the newest simulations with it. */
export interface AgentReadiness {
  agent: StoredAgent;
  parts: readonly ReadinessPart[];
  /** No if a part failed; unknown if evidence is missing. */
  readiness: 'yes' | 'no' | 'unknown';
  /** When the oldest evidence ended. */
  asOfMs: number | undefined;
  /** Newest first. */
  runs: readonly RunSummary[];
}

/** Returns whether agents are ready, in their order, with up to this many simulations of each. */
export async function findReadiness(
  deps: ReadinessDeps,
  ownerId: string,
  agents: readonly StoredAgent[],
  runsMax: number,
): Promise<AgentReadiness[]> {
  const { store } = deps;
  const ids = agents.map(({ id }) => id);
  const [newest, runsByAgent] = await Promise.all([
    store.agentReports.listNewest(ownerId, agents),
    store.runs.listSimulationsOfAgents(ownerId, ids, JUDGED_SIMULATIONS_MAX),
  ]);
  const judgeAgent = async (agent: StoredAgent): Promise<AgentReadiness> => {
    const ofAgent = newest.filter(({ agentId }) => agentId === agent.id);
    const runs = runsByAgent.get(agent.id) ?? [];
    const judge = (kind: AgentReportKind): ReadinessPart =>
      judgeReport(
        agent,
        kind,
        ofAgent.find((report) => report.kind === kind),
      );
    const judged = [
      contradictConnection(judge('connection'), agent, ofAgent),
      ...[judge('check'), judge('load')],
      await judgeSimulations(deps, ownerId, agent, runs),
    ];
    const tested = ofAgent.flatMap(({ attempt, ...report }) => [
      report,
      ...(attempt ? [attempt] : []),
    ]);
    const ofUrl = tested.filter(({ summary }) => isSameUrl(summary.target, agent.url));
    const builds = [...ofUrl.map(toBuild), ...judged.flatMap((part) => part.builds ?? [])];
    const parts = markOutdated(judged, agent, builds);
    const times = parts.flatMap(({ atMs }) => atMs ?? []);
    return {
      agent,
      parts,
      runs: runs.slice(0, runsMax),
      readiness: decideReadiness(parts),
      asOfMs: times.length === 0 ? undefined : Math.min(...times),
    };
  };
  return Promise.all(agents.map(judgeAgent));
}

function decideReadiness(parts: readonly ReadinessPart[]): AgentReadiness['readiness'] {
  if (parts.some(({ standing }) => standing === 'fail')) return 'no';
  return parts.every(({ standing }) => standing === 'pass') ? 'yes' : 'unknown';
}

const MISSING: Readonly<Record<AgentReportKind, [verdict: string, detail: string]>> = {
  connection: ['Not checked', 'The service has not reached its sandbox yet.'],
  check: ['No report', 'No check has judged this agent.'],
  load: ['No report', 'No load test has run.'],
};

function judgeReport(
  { url }: StoredAgent,
  id: AgentReportKind,
  report: CountingReport | undefined,
): ReadinessPart {
  const name = reportKindNames[id];
  if (!report) {
    const [verdict, detail] = MISSING[id];
    return { id, name, standing: 'warn', verdict, detail };
  }
  const { standing, verdict, detail, target, endedAt } = summarizeFor(url, report.summary);
  const { attempt } = report;
  const part = { id, name, standing, verdict, detail, report, ...(attempt && { attempt }) };
  if (!isSameUrl(target, url)) return part;
  return { ...part, atMs: Date.parse(endedAt), builds: [toBuild(report)] };
}

/** Returns that the sandbox can't be reached if a later run of another kind did not reach it. */
function contradictConnection(
  part: ReadinessPart,
  { url }: StoredAgent,
  reports: readonly CountingReport[],
): ReadinessPart {
  const { atMs } = part;
  if (atMs === undefined || part.standing === 'fail') return part;
  const blocked = reports
    .map(({ attempt, ...counting }) => attempt ?? counting)
    .filter(
      ({ summary: { isBlocked, target, endedAt } }) =>
        isBlocked === true && isSameUrl(target, url) && Date.parse(endedAt) > atMs,
    )
    .sort((left, right) => endMsOf(right) - endMsOf(left));
  const [attempt] = blocked;
  if (!attempt) return part;
  const { detail } = attempt.summary;
  const verdict = 'Not reachable';
  return { ...part, standing: 'fail', verdict, detail, attempt, atMs: endMsOf(attempt) };
}

/** Returns what a report tested. */
const toBuild = (report: AgentReport): TestedBuild & { atMs: number } => {
  const { agentVersion, connection } = report.summary;
  return {
    atMs: endMsOf(report),
    ...(agentVersion !== undefined && { agentVersion }),
    ...(connection !== undefined && { connection }),
  };
};

const endMsOf = ({ summary }: AgentReport): number => Date.parse(summary.endedAt);
