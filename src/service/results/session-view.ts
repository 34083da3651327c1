import type { EvalOutcome, OutcomeSummary } from '../../contract/index.ts';
import { isoTime } from '../../platform/clock.ts';
import type { Outcome, Session } from '../store/store.ts';

/** What the items of both results endpoints have in common (spec 2.4, 2.5). */
export interface SessionView {
  status: string;
  started_at: string;
  ended_at: string;
  outcome_summary: OutcomeSummary;
  eval_outcomes: EvalOutcome[];
}

/**
 * The common part of a session on the wire. Its summary is always of the whole session; only the
 * list of outcomes is narrowed to the failing ones (spec 4.3 rule 2).
 */
export function toSessionView(session: Session, failedOnly: boolean): SessionView {
  const evaluations = session.outcomes.filter(isEvaluation);
  const listed = evaluations.filter(({ outcome }) => !failedOnly || outcome === 'fail');
  return {
    status: session.status,
    started_at: isoTime(session.startedAtMs),
    ended_at: isoTime(session.endedAtMs),
    outcome_summary: summary(evaluations),
    eval_outcomes: listed.map(outcomeView),
  };
}

// An eval that errored found nothing, so it is no evaluation.
function isEvaluation({ outcome }: Outcome): boolean {
  return outcome !== 'error';
}

function summary(evaluations: readonly Outcome[]): OutcomeSummary {
  const total = evaluations.length;
  const passed = evaluations.filter(({ outcome }) => outcome === 'pass').length;
  return {
    total_evaluations: total,
    passed_count: passed,
    failed_count: total - passed,
    pass_rate: total === 0 ? 0 : passed / total,
  };
}

function outcomeView(outcome: Outcome): EvalOutcome {
  return {
    eval_name: outcome.evalName,
    eval_category: outcome.category,
    eval_type: outcome.type,
    outcome: outcome.outcome,
    reasoning: outcome.reasoning,
  };
}
