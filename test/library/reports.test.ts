/** Results are exactly the JSON reports of the commands, even for concurrent runs. */
import { isDeepStrictEqual } from 'node:util';
import t, { type Test } from 'tap';
import { findViolations } from '../../src/contract/index.ts';
import {
  check,
  load,
  startAgent,
  type CheckReport,
  type ExchangeRecord,
  type LoadReport,
  type RunningAgent,
} from '../../library/index.ts';
import { run } from '../support/commands/command.ts';
import { withMutant } from '../support/sandboxes/mutant.ts';

async function withAgent(t: Test): Promise<RunningAgent> {
  const agent = await startAgent({ voice: null });
  t.teardown(() => agent.stop());
  return agent;
}

/** Asserts that a value has nothing that JSON can't carry, such as undefined or a date. */
function assertJson(t: Test, value: object): void {
  t.ok(isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value), 'it is plain JSON');
}

/** The times in the body of a response, and in the text around it. */
const TIMES = /"created_at":"[^"]*"|"response_time_ms":\d+/g;

/** Returns a report without the times and the ids of the sandbox, which differ between runs. */
const withoutTimes = (report: object): unknown =>
  JSON.parse(
    JSON.stringify(report, (key, value: unknown) => {
      // Present only if this machine was too busy to send in time.
      if (key === 'kitLateMs') return undefined;
      // A time has more or fewer digits, so the length of a body that contains one differs.
      if (/(At|Ms)$|^(date|content-length)$/.test(key)) return typeof value;
      return typeof value === 'string' ? value.replaceAll(TIMES, '"time"') : value;
    }),
  );

/** Returns the ids of users that occur in recorded requests. */
const userIdsIn = (recorded: unknown): string[] => [
  ...new Set(JSON.stringify(recorded).match(/sim_user_\w+/g)),
];

void t.test('check returns the object that check --json writes', async (t) => {
  const agent = await withAgent(t);
  const url = await withMutant(t, 'chat/content-null', agent.url);
  // One request at a time, so that both runs send them in the same order.
  const areas = ['chat', 'health'] as const;
  const report = await check({ url: `${url}/`, areas, seed: 'same', concurrency: 1 });
  assertJson(t, report);
  t.same(findViolations('CheckReport', report), []);
  t.equal(report.verdict, 'not-conforming');
  agent.reset();
  const options = ['--area', 'chat,health', '--seed', 'same', '--concurrency', '1', '--json', '-'];
  const { stdout } = await run(['check', url, ...options]);
  t.strictSame(withoutTimes(report), withoutTimes(JSON.parse(stdout) as CheckReport));
});

void t.test('load returns the object that load --json writes', async (t) => {
  const { url } = await withAgent(t);
  const traffic = { profile: 'chat', rate: 20, durationMs: 2_000, warmUpMs: 0 } as const;
  const options = ['--profile', 'chat', '--rate', '20', '--duration', '2s', '--warm-up', '0s'];
  const runBoth = async (target: string): Promise<[returned: LoadReport, written: LoadReport]> => {
    const seed = 'same';
    const returned = await load({ url: target, ...traffic, seed, acceptNotProven: true });
    assertJson(t, returned);
    t.same(findViolations('LoadReport', returned), []);
    const args = ['load', target, ...options, '--seed', seed, '--accept-not-proven', '--json', '-'];
    return [returned, JSON.parse((await run(args)).stdout) as LoadReport];
  };
  const [blocked, blockedWritten] = await runBoth('http://127.0.0.1:1');
  t.match(blocked, { exitCode: 3, blockedBy: { message: /Nothing accepts connections/ } });
  t.strictSame(withoutTimes(blocked), withoutTimes(blockedWritten));
  // What a run measures differs, so only the fields and the plan are the same.
  const [returned, written] = await runBoth(url);
  t.strictSame(Object.keys(returned), Object.keys(written));
  t.strictSame(returned.plan, written.plan);
  t.same(
    returned.targets.map(({ id, limit }) => [id, limit]),
    written.targets.map(({ id, limit }) => [id, limit]),
  );
});

void t.test('two checks in one process do not affect each other', async (t) => {
  const agents = await Promise.all([withAgent(t), withAgent(t)]);
  const mutant = await withMutant(t, 'chat/content-null', agents[1].url);
  const runs = agents.map((agent, index) => ({
    agent,
    url: index === 0 ? agent.url : mutant,
    seed: `run-${index}`,
    failed: index === 0 ? [] : ['CHAT-024'],
    exchanges: new Array<ExchangeRecord>(),
  }));
  const reports = await Promise.all(
    runs.map(({ url, seed, exchanges }) =>
      check({ url, areas: ['chat', 'users'], seed, onExchange: (each) => exchanges.push(each) }),
    ),
  );
  for (const [index, { agent, url, seed, failed, exchanges }] of runs.entries()) {
    const { requirements = [], ...report } = reports[index] ?? {};
    t.match(report, { target: url, seed });
    t.same(
      requirements.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id),
      failed,
    );
    t.ok(exchanges.length > 100, `${exchanges.length} exchanges`);
    const userIds = userIdsIn(exchanges);
    t.ok(userIds.length > 1);
    const received = userIdsIn(agent.requests());
    t.ok(received.length > 0);
    t.same(
      received.filter((id) => !userIds.includes(id)),
      [],
      'the agent saw only its own users',
    );
    const others = userIdsIn(runs[1 - index]?.exchanges);
    t.same(
      userIds.filter((id) => others.includes(id)),
      [],
    );
  }
});
