import type {
  EvalDefinition,
  Persona,
  Scenario,
  SimulatedSessionReport,
  SimulationBlocker,
  SimulationReport,
} from '../../contract/index.ts';
import { limitSignal } from '../../platform/abort.ts';
import type { RunOptionOfLibrary } from '../../options/run.ts';
import { seededRandom } from '../../platform/random.ts';
import type { Connection } from '../../platform/connection.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import { errorOrigin } from '../../platform/error-origin.ts';
import { silentLog } from '../../platform/log.ts';
import { resolveScenarios } from '../scenarios/resolved-scenario.ts';
import type { SimulateOptions } from '../generated/options.ts';
import { CHAT_CONCURRENCY } from '../simulator/options.ts';
import { NO_JUDGE_IN_RUN } from '../model/missing-models.ts';
import { createJudge } from '../scoring/judge.ts';
import { scoreSession } from '../scoring/eval-kinds.ts';
import {
  createErrorScore,
  SCORING_MS_MAX,
  toOutcome,
  type Judge,
  type Score,
} from '../scoring/score.ts';
import type { ScoredSession } from '../sessions/scored-session.ts';
import { forEachConcurrently } from '../../platform/concurrency.ts';
import { buildReport } from '../simulator/report/report.ts';
import { buildSessionReport } from '../simulator/report/session-report.ts';
import { runSession, type SessionDeps } from '../simulator/run-session.ts';
import { openSandbox } from '../simulator/sandbox/sandbox.ts';
import { planSessions, type SessionPlan } from '../simulator/session-plan.ts';
import type { SimulatedSession } from '../simulator/simulated-session.ts';
import { scoreUnansweredCall } from './score-unanswered-call.ts';
import { createVoiceCaller, type CallOptions } from '../simulator/calls/caller.ts';
import { openUserModel } from '../simulator/users/user-model.ts';
import type { Outcome } from '../store/store.ts';
import { decideVerdict } from '../sessions/verdict.ts';

/** The options that a run gets in other forms, and those of the report. */
type OptionOfLibrary =
  | RunOptionOfLibrary
  | (
      | 'allowHttp'
      | 'scenarios'
      | 'personas'
      | 'evals'
      | 'speech'
      | 'transcription'
      | 'voice'
      | 'compareWith'
    );

/** A simulation run: the options of the library, and what the package above adds. */
export interface SimulationSettings extends Omit<SimulateOptions, OptionOfLibrary> {
  /** Base URL of the sandbox. */
  sandbox: string;
  /** Additional headers, client certificate, and proxies. */
  connection?: Connection | undefined;
  scenarios: readonly Scenario[];
  /** Personas and evals that scenarios refer to. */
  personas: readonly Persona[];
  evals: readonly EvalDefinition[];
  /** Random seed. */
  seed: string;
  /** How to place calls, for sessions by voice. */
  voice?: CallOptions | undefined;
  kitVersion: string;
  clock?: Clock | undefined;
  /** Cancels the running sessions; the report covers what happened until then. */
  signal?: AbortSignal | undefined;
  /** Runs before the first session. If it returns a cause, no session is started. */
  preflight?: (signal: AbortSignal) => Promise<SimulationBlocker | undefined>;
}

/**
 * Runs simulated users against a sandbox and scores the sessions, without a running service. Runs with the same
 * random seed, scenarios, and replies give the same report except for times.
 * @throws InvalidDocumentError if a scenario or an eval is invalid. Its pointer starts with the index of the
 * scenario, or with `/evals` and the index of the eval.
 */
export async function simulate(options: SimulationSettings): Promise<SimulationReport> {
  const { clock = systemClock, log = silentLog, seed, kitVersion } = options;
  const { concurrency = CHAT_CONCURRENCY } = options;
  const { signal = new AbortController().signal, onSession = () => undefined } = options;
  const resolved = resolveScenarios(options.scenarios, options);
  const { samples, channel, sandbox: url, apiKey, ca, connection, userModel, voice } = options;
  const plans = planSessions({ scenarios: resolved, samples, seed, channel });
  const startedAtMs = clock.nowMs();
  // Before anything is opened that only the code below closes.
  const blockedBy = await options.preflight?.(signal);
  const access = { apiKey, ca, connection, clock };
  const connections = openSandbox({ ...access, url, connections: concurrency });
  const caller = createVoiceCaller({ ...voice, ...access, sandbox: url });
  const model = userModel && openUserModel({ ...userModel, clock });
  const random = seededRandom(seed).fork('judge');
  const judge = options.judge && createJudge({ ...options.judge, clock, random });
  const openCall = caller.open;
  const deps: SessionDeps = { connections, openCall, model, clock, machineClock: clock, log };
  const sessions: SimulatedSessionReport[] = [];
  try {
    await forEachConcurrently(blockedBy ? [] : plans, concurrency, async (plan, index) => {
      const session = await runSession(plan, deps, signal);
      const outcomes = await scoreEnded(plan, session, { judge, signal, clock });
      const verdict = decideVerdict({ status: session.status, outcomes });
      const report = buildSessionReport(plan, session, { outcomes, verdict });
      sessions[index] = report;
      onSession(report);
    });
  } finally {
    await Promise.all([connections.close(), caller.close()]);
  }
  const endedAtMs = clock.nowMs();
  return buildReport({
    scenarios: resolved,
    sessions,
    sandbox: url,
    seed,
    hasKey: apiKey !== undefined,
    isTranscribed: voice?.transcription !== undefined,
    blockedBy,
    kitVersion,
    startedAtMs,
    endedAtMs,
  });
}

interface ScoringContext {
  judge: Judge | undefined;
  signal: AbortSignal;
  clock: Clock;
}

/** Scores a session. If it was not completed, returns only the failures that its call proves. */
async function scoreEnded(
  plan: SessionPlan,
  simulated: SimulatedSession,
  context: ScoringContext,
): Promise<Outcome[]> {
  if (simulated.status !== 'completed') return scoreUnansweredCall(plan, simulated);
  const session = toScoredSession(plan, simulated);
  return Promise.all(
    simulated.evals.map(async (definition) =>
      toOutcome(definition, await scoreEval(definition, session, context)),
    ),
  );
}

async function scoreEval(
  definition: EvalDefinition,
  session: ScoredSession,
  { judge, signal, clock }: ScoringContext,
): Promise<Score> {
  if (definition.kind === 'judge' && !judge) return createErrorScore(NO_JUDGE_IN_RUN);
  using limit = limitSignal(clock, SCORING_MS_MAX, signal);
  try {
    return await scoreSession(definition, session, judge, limit.signal);
  } catch (error) {
    if (signal.aborted) return createErrorScore('The scoring was canceled.');
    if (limit.isOver()) return createErrorScore(`Scoring took more than ${SCORING_MS_MAX} ms.`);
    return createErrorScore(
      `Scoring failed (${errorOrigin(error).error}). This is a bug in the kit.`,
    );
  }
}

function toScoredSession(
  plan: SessionPlan,
  { turns, turnTaking, heard }: SimulatedSession,
): ScoredSession {
  const { scenario, persona, sessionId } = plan;
  return {
    sessionId,
    scenario: scenario.name,
    persona: persona.name,
    ...(scenario.metadata && { metadata: scenario.metadata }),
    ...(turnTaking && { turnTaking }),
    ...(heard && { heard }),
    turns: turns.map(({ evaluationMetadata, ...turn }) => ({
      ...turn,
      ...(evaluationMetadata && { evaluationMetadata }),
    })),
  };
}
