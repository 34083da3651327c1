/** Evals of kind `judge` through the front door: what its endpoint does, and what becomes of it. */
import t, { type Test } from 'tap';
import type { ServiceOptions } from '../src/service/index.ts';
import type { JudgeOptions } from '../src/service/scoring/judge.ts';
import { systemClock } from '../src/shared/clock.ts';
import { answers, heldAnswers, openAiServer, type OpenAiServer } from './helpers/openai-server.ts';
import { withService, type Bench } from './helpers/service.ts';

const dayMs = 86_400_000;
const turns = [{ user_input: 'Hi', agent_response: 'Hello!' }];

interface Judged extends Bench {
  server: OpenAiServer;
  /** Hands in a conversation, to be scored by the judge. */
  upload: (id: string) => Promise<unknown>;
}

/** A service with a judge, and one eval that asks it. */
async function withJudge(
  t: Test,
  judge: Partial<JudgeOptions> = {},
  options: Partial<ServiceOptions> = {},
): Promise<Judged> {
  const server = await openAiServer(t);
  const { baseUrl } = server;
  const bench = await withService(t, { judge: { baseUrl, model: 'small', ...judge }, ...options });
  const params = { criteria: 'It greets.' };
  await bench.admin('POST /evals', { id: 'greets', name: 'Greets', kind: 'judge', params });
  const upload = (id: string): Promise<unknown> =>
    bench.admin('POST /transcripts', { session_id: id, turns, evals: ['greets'] });
  return { ...bench, server, upload };
}

void t.test('a clock that is moved on during a question has it asked once', async (t) => {
  const { server, admin, clock, upload, drain, production } = await withJudge(t);
  const { behave, release } = heldAnswers();
  server.behave(behave);
  await upload('t-1');
  await server.untilAsked(1);
  for (let day = 0; day < 12; day += 1) {
    await admin('POST /clock', { advance_ms: dayMs });
    clock.advance(dayMs);
  }
  // Whatever else is due is scored meanwhile.
  await upload('t-2');
  await server.untilAsked(2);
  release(answers.verdict('pass'));
  await drain();
  t.equal(server.asked.length, 2);
  t.match((await production()).items, [
    { outcome_summary: { passed_count: 1 } },
    { outcome_summary: { passed_count: 1 } },
  ]);
});

void t.test('a service on a clock that stands still stops while the judge hangs', async (t) => {
  const { server, service, upload } = await withJudge(t);
  server.behave(answers.hang);
  await upload('t-1');
  await server.untilAsked(1);
  const beganMs = systemClock.monotonicMs();
  await service.stop();
  t.ok(systemClock.monotonicMs() - beganMs < 10_000, 'within its 5 s, and some for a slow machine');
});
