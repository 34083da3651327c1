import { formatCount, formatShare } from '../../report-kit/format.ts';
import { reportKindNames } from '../domain/agent-reports.ts';
import type {
  AgentReport,
  AgentReportKind,
  RunSummary,
  Store,
  StoredAgent,
} from '../store/store.ts';

/** One of the things that show whether an agent is ready. */
export interface ReadinessPart {
  id: AgentReportKind | 'simulations';
  name: string;
  standing: 'pass' | 'fail' | 'warn';
  /** The result in a few words. */
  verdict: string;
  detail: string;
  /** The report that shows it. */
  report?: AgentReport;
  /** The simulation that shows it. */
  run?: RunSummary;
}

/** Whether an agent is ready to onboard, and the newest simulations with it. */
export interface AgentReadiness {
  agent: StoredAgent;
  parts: readonly ReadinessPart[];
  isReady: boolean;
  /** Newest first. */
  runs: readonly RunSummary[];
}

/** Returns whether agents are ready, in their order, with up to so many simulations of each. */
export async function findReadiness(
  { agentReports, runs: runStore }: Pick<Store, 'agentReports' | 'runs'>,
  ownerId: string,
  agents: readonly StoredAgent[],
  runsMax: number,
): Promise<AgentReadiness[]> {
  const ids = agents.map(({ id }) => id);
  const names = agents.map(({ name }) => name);
  const [newest, runsByAgent] = await Promise.all([
    agentReports.listNewest(ownerId, ids),
    runStore.listSimulationsOfAgents(ownerId, names, runsMax),
  ]);
  return agents.map((agent) => {
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
      judgeRuns(runs),
    ];
    return { agent, parts, runs, isReady: parts.every(({ standing }) => standing === 'pass') };
  });
}

const MISSING: Readonly<Record<AgentReportKind, [verdict: string, detail: string]>> = {
  connection: ['Not checked', 'Check the connection.'],
  check: ['No report', 'Attach a report of a check.'],
  load: ['No report', 'Attach a report of a load test.'],
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
  const { standing, verdict, detail, target } = report.summary;
  if (normalizeUrl(target) === normalizeUrl(url)) {
    return { id, name, standing, verdict, detail, report };
  }
  const other = `The report is about ${target}, not about the URL of this agent.`;
  return { id, name, standing: 'warn', verdict: `${verdict} elsewhere`, detail: other, report };
}

const normalizeUrl = (url: string): string => (URL.parse(url)?.href ?? url).replace(/\/+$/, '');

/** Judges the newest simulation. */
function judgeRuns([run]: readonly RunSummary[]): ReadinessPart {
  const part = { id: 'simulations', name: 'Simulations' } as const;
  if (!run) {
    return { ...part, standing: 'warn', verdict: 'None yet', detail: 'Run scenarios with it.' };
  }
  const { sessions, failedSessions, incompleteSessions, evaluations, passedEvaluations, name } =
    run;
  if (run.state === 'running') {
    return { ...part, standing: 'warn', verdict: 'Running', detail: `${name} is running.`, run };
  }
  if (evaluations === 0) {
    const detail = `No eval has scored a session of ${name}.`;
    return { ...part, standing: 'warn', verdict: 'Not scored', detail, run };
  }
  return {
    ...part,
    standing: failedSessions > 0 ? 'fail' : incompleteSessions > 0 ? 'warn' : 'pass',
    verdict: `${formatShare(passedEvaluations / evaluations, 1)} of evals passed`,
    detail:
      `${failedSessions} of ${formatCount(sessions, 'session')} failed in ${name}` +
      `${incompleteSessions > 0 ? `, and ${incompleteSessions} could not be completed` : ''}.`,
    run,
  };
}
