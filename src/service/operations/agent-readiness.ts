import { isSameUrl } from '../../platform/base-url.ts';
import { reportKindNames, summarizeFor } from '../domain/agent-reports.ts';
import type { AgentReport, AgentReportKind, RunSummary, StoredAgent } from '../store/store.ts';
import { JUDGED_SIMULATIONS_MAX, judgeSimulations } from './simulation-readiness.ts';
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

/** Returns whether agents are ready, in their order, with up to so many simulations of each. */
export async function findReadiness(
  deps: ReadinessDeps,
  ownerId: string,
  agents: readonly StoredAgent[],
  runsMax: number,
): Promise<AgentReadiness[]> {
  const { store } = deps;
  const names = agents.map(({ name }) => name);
  const [newest, runsByAgent] = await Promise.all([
    store.agentReports.listNewest(ownerId, agents),
    store.runs.listSimulationsOfAgents(ownerId, names, JUDGED_SIMULATIONS_MAX),
  ]);
  const judge = async (agent: StoredAgent): Promise<AgentReadiness> => {
    const ofAgent = newest.filter(({ agentId }) => agentId === agent.id);
    const runs = runsByAgent.get(agent.name) ?? [];
    const parts = [
      ...(['connection', 'check', 'load'] as const).map((kind) =>
        judgeReport(
          agent,
          kind,
          ofAgent.find((report) => report.kind === kind),
        ),
      ),
      await judgeSimulations(deps, ownerId, agent, runs),
    ];
    const times = parts.flatMap(({ atMs }) => atMs ?? []);
    return {
      ...{ agent, parts, runs: runs.slice(0, runsMax), readiness: decideReadiness(parts) },
      asOfMs: times.length === 0 ? undefined : Math.min(...times),
    };
  };
  return Promise.all(agents.map(judge));
}

function decideReadiness(parts: readonly ReadinessPart[]): AgentReadiness['readiness'] {
  if (parts.some(({ standing }) => standing === 'fail')) return 'no';
  return parts.every(({ standing }) => standing === 'pass') ? 'yes' : 'unknown';
}

const MISSING: Readonly<Record<AgentReportKind, [verdict: string, detail: string]>> = {
  connection: ['Not checked', 'Its sandbox was not reached yet.'],
  check: ['No report', 'No check has judged this agent.'],
  load: ['No report', 'No load test has run.'],
};

function judgeReport(
  { url }: StoredAgent,
  id: AgentReportKind,
  report: AgentReport | undefined,
): ReadinessPart {
  const name = reportKindNames[id];
  if (!report) {
    const [verdict, detail] = MISSING[id];
    return { id, name, standing: 'warn', verdict, detail };
  }
  const { standing, verdict, detail, target, endedAt } = summarizeFor(url, report.summary);
  const part = { id, name, standing, verdict, detail, report };
  return isSameUrl(target, url) ? { ...part, atMs: Date.parse(endedAt) } : part;
}
