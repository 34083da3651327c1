/** A session with one outcome of the eval Polite. */
interface SeededSession {
  id: string;
  outcome: 'pass' | 'fail' | 'error';
  text?: string;
  startedAt?: string;
}

/** Returns a production run of seed data. */
export const seedRun = (name: string, sessions: readonly SeededSession[]) => ({
  name,
  sessions: sessions.map(({ id, outcome, text = 'Hello.', startedAt }) => ({
    source_session_id: id,
    started_at: startedAt ?? '2026-11-20T09:30:00Z',
    turns: [{ user_input: text, agent_response: text }],
    outcomes: [{ eval_name: 'Polite', outcome, reasoning: text }],
  })),
});
