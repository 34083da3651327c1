import type { SeedDocument } from '../../../src/contract/index.ts';
import { isoTime } from '../../../src/platform/clock.ts';
import { AGENT } from '../../areas/client/reference.ts';

/** More than the default size of a page. */
const SESSIONS = 60;

const MINUTE_MS = 60_000;

/** Creates seed data with several pages of sessions, which are not those of the client. */
export function createSeedDocument(nowMs: number): SeedDocument {
  const sessions = Array.from({ length: SESSIONS }, (_, index) => ({
    scenario: 'late-parcel',
    persona: `persona-${index}`,
    started_at: isoTime(nowMs - (index + 2) * MINUTE_MS),
    ended_at: isoTime(nowMs - (index + 1) * MINUTE_MS),
    turns: [],
    outcomes: [{ eval_name: 'Polite', outcome: 'pass' as const, reasoning: 'It was.' }],
  }));
  return {
    agents: [{ name: AGENT, url: 'https://shop.example/agent' }],
    simulations: [{ name: 'Nightly', agent: AGENT, sessions }],
  };
}
