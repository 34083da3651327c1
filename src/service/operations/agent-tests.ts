import { formatValue, type CheckReport } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { errorOrigin } from '../../platform/error-origin.ts';
import type { Log } from '../../platform/log.ts';
import { RequestError } from '../requests/errors.ts';
import type { Store } from '../store/store.ts';
import { attachReport } from './agent-reports.ts';
import { findDocument } from './documents.ts';
import type {
  AgentTest,
  AgentTestPlan,
  AgentTestProgress,
  KitFunctions,
  SandboxAddress,
} from './kit-functions.ts';

/** The most tests that run in a process at the same time: they share its cores with the service. */
const RUNNING_MAX = 4;

/** The most ended tests whose end is remembered. */
const ENDED_MAX = 1_000;

/** A test of an agent; a problem says why it left no report, to follow its name. */
export interface WatchedTest {
  kind: AgentTest['kind'];
  plan: AgentTestPlan;
  progress: AgentTestProgress;
  end: 'running' | 'reported' | { problem: string };
}

/** Checks and load tests of agents that the pages start. Each attaches its report to the agent. */
export interface AgentTests {
  /** Whether this service can run tests. */
  isAvailable: boolean;
  /** Returns what a test sends. @throws RequestError `not_found`. */
  plan(ownerId: string, agentId: string, test: AgentTest): Promise<AgentTestPlan>;
  /**
   * Starts a test.
   * @throws RequestError `not_found`; `conflict` if a test of the agent runs; `busy` if too many tests run.
   */
  start(ownerId: string, agentId: string, test: AgentTest): Promise<void>;
  /** Returns the test of an agent that runs, or the newest one if it ended without a report. */
  watch(ownerId: string, agentId: string): WatchedTest | undefined;
  /** Cancels the test of an agent, and waits until what it created is deleted. */
  cancel(ownerId: string, agentId: string): Promise<void>;
  /** Cancels all tests of an owner. */
  cancelAll(ownerId: string): Promise<void>;
  /** Waits until no test runs. */
  drain(): Promise<void>;
  /** Cancels all tests. */
  stop(): Promise<void>;
}

/** What tests of agents need. */
export interface AgentTestDeps {
  store: Pick<Store, 'documents' | 'evals' | 'agentReports'>;
  /** The service clock. */
  clock: Clock;
  log: Log;
  kit: KitFunctions | undefined;
}

interface Run {
  ownerId: string;
  watched: WatchedTest;
  control: AbortController;
  /** Resolves when the test has ended; never rejects. */
  ended: Promise<void>;
}

/** Creates what runs tests of agents in this process. Other replicas see only their reports. */
export function createAgentTests(deps: AgentTestDeps): AgentTests {
  const { store, kit } = deps;
  const runs = new Map<string, Run>();
  const keyOf = (ownerId: string, agentId: string): string => `${ownerId} ${agentId}`;
  const listRunning = (): Run[] => [...runs.values()].filter(isRunning);
  const requireKit = (): KitFunctions => {
    if (kit) return kit;
    throw new RequestError('not_found', 'This service was started without tests of agents.');
  };
  const forgetEnded = (): void => {
    for (const [key, run] of runs) {
      if (runs.size <= ENDED_MAX) return;
      if (!isRunning(run)) runs.delete(key);
    }
  };
  return {
    isAvailable: kit !== undefined,
    async plan(ownerId, agentId, test) {
      await findDocument(store, ownerId, 'agent', agentId);
      return requireKit().planTest(test);
    },
    async start(ownerId, agentId, test) {
      const functions = requireKit();
      const agent = await findDocument(store, ownerId, 'agent', agentId);
      const { url, voice_url: voiceUrl, connection = 0 } = agent;
      const apiKey = await store.documents.findApiKey(ownerId, agentId);
      const plan = await functions.planTest(test);
      const key = keyOf(ownerId, agentId);
      const running = listRunning();
      if (running.some((run) => run === runs.get(key))) {
        const message = `A test of the agent ${formatValue(agent.name)} is running. Wait until it ends, or cancel it.`;
        throw new RequestError('conflict', message);
      }
      if (running.length >= RUNNING_MAX) {
        const message = `${RUNNING_MAX} tests of agents are running. Wait until one ends.`;
        throw new RequestError('busy', message);
      }
      const address = { url, voiceUrl, apiKey };
      const run = startRun(deps, functions, { ownerId, agentId, test, plan, address, connection });
      runs.delete(key);
      runs.set(key, run);
      forgetEnded();
    },
    watch(ownerId, agentId) {
      const watched = runs.get(keyOf(ownerId, agentId))?.watched;
      return watched?.end === 'reported' ? undefined : watched;
    },
    async cancel(ownerId, agentId) {
      const run = runs.get(keyOf(ownerId, agentId));
      if (run) await stopRuns([run]);
    },
    cancelAll: (ownerId) => stopRuns(listRunning().filter((run) => run.ownerId === ownerId)),
    async drain() {
      await Promise.all(listRunning().map(({ ended }) => ended));
    },
    stop: () => stopRuns(listRunning()),
  };
}

const isRunning = ({ watched }: Run): boolean => watched.end === 'running';

async function stopRuns(runs: readonly Run[]): Promise<void> {
  for (const { control } of runs) control.abort();
  await Promise.all(runs.map(({ ended }) => ended));
}

/** Starts a test, and attaches its report when it has ended. */
function startRun(
  deps: AgentTestDeps,
  kit: KitFunctions,
  started: {
    ownerId: string;
    agentId: string;
    test: AgentTest;
    plan: AgentTestPlan;
    address: SandboxAddress;
    connection: number;
  },
): Run {
  const { ownerId, agentId, test, plan, address, connection } = started;
  const control = new AbortController();
  const { signal } = control;
  const watched: WatchedTest = {
    kind: test.kind,
    plan,
    end: 'running',
    progress: { state: 'starting', share: 0 },
  };
  const onProgress = (progress: AgentTestProgress): void => {
    watched.progress = progress;
  };
  const run = async (): Promise<WatchedTest['end']> => {
    const report = await kit.runTest(test, { ...address, signal, onProgress });
    // Half a report would hide the last whole one.
    if (signal.aborted) {
      // The notices name the users that the test left in the sandbox.
      const { notices = [] } = report as Partial<CheckReport>;
      return { problem: ['was canceled. It left no report.', ...notices].join(' ') };
    }
    await attachReport(deps, ownerId, agentId, report, connection);
    return 'reported';
  };
  const ended = run()
    .catch((error: unknown) => ({ problem: explainFailure(error, deps.log) }))
    .then((end) => {
      watched.end = end;
    });
  return { ownerId, watched, control, ended };
}

/** Returns why a test left no report, to follow its name. */
function explainFailure(error: unknown, log: Log): string {
  if (error instanceof RequestError) return `left no report: ${error.message}`;
  log.error('agent_test_failed', { ...errorOrigin(error) });
  return 'failed with an internal error. See the log of this service.';
}
