import type {
  EvalDefinition,
  Persona,
  Scenario,
  SimulatedSessionReport,
  SimulationReport,
} from '../../contract/index.ts';
import { seededRandom } from '../../platform/random.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import { silentLog, type Log } from '../../platform/log.ts';
import { resolveScenarios } from '../domain/resolved-scenario.ts';
import { NO_JUDGE_IN_RUN } from '../domain/missing-models.ts';
import { createJudge, type JudgeOptions } from '../scoring/judge.ts';
import { scoreSession } from '../scoring/eval-kinds.ts';
import { scoreError, toOutcome, type Judge, type Score } from '../scoring/score.ts';
import type { ScoredSession } from '../scoring/scored-session.ts';
import { forEachConcurrently } from '../../platform/concurrency.ts';
import { reportOf } from '../simulator/report/report.ts';
import { sessionReport } from '../simulator/report/session-report.ts';
import { runSession, type SessionDeps } from '../simulator/run-session.ts';
import { openSandbox } from '../simulator/sandbox.ts';
import { planSessions, type ChannelName, type SessionPlan } from '../simulator/session-plan.ts';
import type { SimulatedSession } from '../simulator/simulated-session.ts';
import { createVoiceCaller, type CallOptions } from '../simulator/voice-caller.ts';
import { openUserModel, type UserModelOptions } from '../simulator/user-model.ts';
import type { Outcome } from '../store/store.ts';
import { decideVerdict } from '../domain/sessions.ts';

/** What is simulated, against what, and how. */
export interface SimulateOptions {
  /** Base address of the sandbox. */
  sandbox: string;
  apiKey?: string | undefined;
  /** PEM of a CA to trust besides the system's. */
  ca?: string | undefined;
  scenarios: readonly Scenario[];
  /** What scenarios name. */
  personas: readonly Persona[];
  evals: readonly EvalDefinition[];
  /** Sessions of each scenario; as each says when left out. */
  samples?: number | undefined;
  seed: string;
  /** Sessions at a time; 5 when left out. */
  concurrency?: number | undefined;
  /** Instead of what the scenarios say. */
  channel?: ChannelName | undefined;
  judge?: Omit<JudgeOptions, 'clock' | 'random'> | undefined;
  userModel?: UserModelOptions | undefined;
  /** How calls are placed, for sessions by voice. */
  voice?: CallOptions | undefined;
  kitVersion: string;
  clock?: Clock;
  log?: Log;
  /** Aborted: sessions under way are cancelled, and what was seen is reported. */
  signal?: AbortSignal;
  /** Told of each session as it ends, in whatever order. */
  onSession?: (session: SimulatedSessionReport) => void;
}

/** How long an eval may take: longer than the judge, than a pattern, than any that ends. */
const scoringMsMax = 120_000;

/**
 * Runs simulated users against a sandbox, and scores what was said: the service's simulator without
 * the service. The same seed, scenarios and answers give the same report but for times.
 * @throws InvalidDocumentError where a scenario or an eval makes no sense; its pointer begins with the scenario's
 * place, or with `/evals` and the eval's.
 */
export async function simulate(options: SimulateOptions): Promise<SimulationReport> {
  const { clock = systemClock, log = silentLog, concurrency = 5, seed, kitVersion } = options;
  const { signal = new AbortController().signal, onSession = () => undefined } = options;
  const castings = resolveScenarios(options.scenarios, options);
  const { samples, channel, sandbox: url, apiKey, ca, userModel, voice } = options;
  const plans = planSessions({ castings, samples, seed, channel });
  const sandbox = openSandbox({ url, apiKey, ca, connections: concurrency, clock });
  const caller = createVoiceCaller({ ...voice, sandbox: url, apiKey, ca, clock });
  const model = userModel && openUserModel({ ...userModel, clock });
  const random = seededRandom(seed).fork('judge');
  const judge = options.judge && createJudge({ ...options.judge, clock, random });
  const { open: call } = caller;
  const deps: SessionDeps = { sandbox, call, model, clock, machineClock: clock, log };
  const startedAtMs = clock.nowMs();
  const sessions: SimulatedSessionReport[] = [];
  try {
    await forEachConcurrently(plans, concurrency, async (plan, nth) => {
      const held = await runSession(plan, deps, signal);
      const outcomes = await score(plan, held, { judge, signal, clock });
      const verdict = decideVerdict({ status: held.status, outcomes });
      const report = sessionReport(plan, held, { outcomes, verdict });
      sessions[nth] = report;
      onSession(report);
    });
  } finally {
    await Promise.all([sandbox.close(), caller.close()]);
  }
  const endedAtMs = clock.nowMs();
  return reportOf({ castings, sessions, sandbox: url, seed, kitVersion, startedAtMs, endedAtMs });
}

interface Scoring {
  judge: Judge | undefined;
  signal: AbortSignal;
  clock: Clock;
}

/** Only a conversation that came to an end is scored. */
async function score(
  plan: SessionPlan,
  held: SimulatedSession,
  scoring: Scoring,
): Promise<Outcome[]> {
  if (held.status !== 'completed') return [];
  const session = scoredSession(plan, held);
  return Promise.all(
    held.evals.map(async (one) => toOutcome(one, await scoreOnce(one, session, scoring))),
  );
}

async function scoreOnce(
  definition: EvalDefinition,
  session: ScoredSession,
  { judge, signal, clock }: Scoring,
): Promise<Score> {
  if (definition.kind === 'judge' && !judge) return scoreError(NO_JUDGE_IN_RUN);
  using deadline = clock.deadline(scoringMsMax);
  const until = AbortSignal.any([signal, deadline.signal]);
  try {
    return await scoreSession(definition, session, judge, until);
  } catch (fault) {
    if (signal.aborted) return scoreError('The scoring was called off.');
    if (deadline.signal.aborted) return scoreError(`Scoring took more than ${scoringMsMax} ms.`);
    const name = fault instanceof Error ? fault.name : 'unknown';
    return scoreError(`Scoring failed (${name}); this is a fault of the kit.`);
  }
}

function scoredSession(plan: SessionPlan, { turns }: SimulatedSession): ScoredSession {
  const { scenario, persona, sessionId } = plan;
  return {
    sessionId,
    scenario: scenario.name,
    persona: persona.name,
    ...(scenario.metadata && { metadata: scenario.metadata }),
    turns: turns.map(({ evaluationMetadata, ...turn }) => ({
      ...turn,
      ...(evaluationMetadata && { evaluationMetadata }),
    })),
  };
}
