import { formatCount, formatShare } from '../../report-kit/format.ts';
import type { SimulationVerdict } from '../../contract/index.ts';
import { reportKindNames } from '../domain/agent-reports.ts';
import { decideRunVerdict } from '../domain/simulation-results/scenario-results.ts';
import type {
  AgentReport,
  AgentReportKind,
  RunSummary,
  Store,
  StoredAgent,
} from '../store/store.ts';
import type { Simulations } from './simulations.ts';

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

/** What shows whether agents are ready. */
export interface ReadinessDeps {
  store: Pick<Store, 'agentReports' | 'runs'>;
  simulations: Pick<Simulations, 'watch'>;
}

/** Returns whether agents are ready, in their order, with up to so many simulations of each. */
export async function findReadiness(
  { store, simulations }: ReadinessDeps,
  ownerId: string,
  agents: readonly StoredAgent[],
  runsMax: number,
): Promise<AgentReadiness[]> {
  const ids = agents.map(({ id }) => id);
  const names = agents.map(({ name }) => name);
  const [newest, runsByAgent] = await Promise.all([
    store.agentReports.listNewest(ownerId, ids),
    store.runs.listSimulationsOfAgents(ownerId, names, runsMax),
  ]);
  const judge = async (agent: StoredAgent): Promise<AgentReadiness> => {
    const ofAgent = newest.filter(({ agentId }) => agentId === agent.id);
    const runs = runsByAgent.get(agent.name) ?? [];
    const [run] = runs;
    const watched = run && (await simulations.watch(ownerId, run.id));
    const parts = [
      ...(['connection', 'check', 'load'] as const).map((kind) =>
        judgeReport(
          agent,
          kind,
          ofAgent.find((report) => report.kind === kind),
        ),
      ),
      judgeRun(run, watched && decideRunVerdict(watched.scenarios)),
    ];
    return { agent, parts, runs, isReady: parts.every(({ standing }) => standing === 'pass') };
  };
  return Promise.all(agents.map(judge));
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
  const { standing, verdict, detail, target } = report.summary;
  if (normalizeUrl(target) === normalizeUrl(url)) {
    return { id, name, standing, verdict, detail, report };
  }
  const other = `The report is about ${target}, not about the URL of this agent.`;
  return { id, name, standing: 'warn', verdict: `${verdict} elsewhere`, detail: other, report };
}

const normalizeUrl = (url: string): string => (URL.parse(url)?.href ?? url).replace(/\/+$/, '');

const STANDINGS = { passed: 'pass', failed: 'fail', undecided: 'warn' } as const;

/** Judges the newest simulation by its verdict, or, if it was seeded, by its sessions. */
function judgeRun(
  run: RunSummary | undefined,
  verdict: SimulationVerdict | undefined = run && run.failedSessions > 0 ? 'failed' : 'passed',
): ReadinessPart {
  const part = { id: 'simulations', name: 'Simulations' } as const;
  if (!run) {
    return { ...part, standing: 'warn', verdict: 'None yet', detail: 'No simulation has ended.' };
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
    standing: STANDINGS[verdict],
    verdict: `${formatShare(passedEvaluations / evaluations, 1)} of evals passed`,
    detail:
      `${failedSessions} of ${formatCount(sessions, 'session')} failed in ${name}` +
      `${incompleteSessions > 0 ? `, and ${incompleteSessions} could not be completed` : ''}.`,
    run,
  };
}
