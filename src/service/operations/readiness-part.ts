import type { ReadinessScenario } from '../../contract/index.ts';
import type {
  AgentReport,
  AgentReportKind,
  RunSummary,
  Store,
  TestedBuild,
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
  /** When the oldest run that shows it ended. */
  atMs?: number;
  /** What was tested, and when. */
  builds?: readonly (TestedBuild & { atMs: number })[];
  /** Why it no longer describes the current agent. */
  outdated?: string;
  /** The report that shows it. */
  report?: AgentReport;
  /** A later run that judged nothing, or proved less. */
  attempt?: AgentReport;
  /** The simulation that shows it. */
  run?: RunSummary;
  /** The newest result of each scenario. */
  scenarios?: readonly ReadinessScenario[];
}

/** What shows whether agents are ready. */
export interface ReadinessDeps {
  store: Pick<Store, 'agentReports' | 'runs'>;
  simulations: Pick<Simulations, 'watch'>;
}
