/** The command `resend` on a failure about several requests: they are sent again in the recorded relation. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { resend } from '../../library/index.ts';
import type { CheckReport, ResendReport } from '../../src/contract/index.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import { run } from '../support/commands/command.ts';
import { createFolder } from '../support/commands/folder.ts';
import { withMutant } from '../support/sandboxes/mutant.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import {
  refusal,
  respondWith,
  withSandboxDouble,
  type RouteBehavior,
} from '../support/sandboxes/sandbox-double.ts';

const FOLDER = createFolder(t);

for (const [mutantId, requirement] of [
  ['users/creates-twice-at-once', 'USERS-067'],
  ['chat/sessions-swapped-in-overlap', 'CHAT-030'],
] as const) {
  void t.test(`${requirement} is judged again with both requests`, async (t) => {
    const { url: agent } = (await withReferenceAgent(t, { voice: null })).agent;
    const mutant = await withMutant(t, mutantId, agent);
    const path = join(FOLDER, `${requirement}.json`);
    const area = mutantId.startsWith('users') ? 'users' : 'chat';
    await run(['check', mutant, '--area', area, '--seed', 'pairs', '--json', path]);
    const report = JSON.parse(readFileSync(path, 'utf8')) as CheckReport;
    const row = rowOf(report, requirement);
    const exchange = String(row?.evidence[0]?.exchange);
    const broken = await run(['resend', path, exchange, '--json', '-']);
    const again = JSON.parse(broken.stdout) as ResendReport;
    t.equal(broken.code, 1, again.sentence);
    t.ok(again.together?.some(({ purpose }) => purpose === 'at the same moment'));
    const repaired = await run(['resend', path, exchange, '--url', agent, '--json', '-']);
    const now = JSON.parse(repaired.stdout) as ResendReport;
    t.equal(repaired.code, 0, now.sentence);
    t.match(now.sentence, new RegExp(`sandbox-kit check http\\S+ --only ${requirement}`));
    const { resendable, ...rest } = report;
    const kept = resendable?.exchanges.filter(({ exchange: { id } }) => String(id) === exchange);
    const alone = { ...rest, resendable: { run: resendable?.run, exchanges: kept } };
    const missing = await resend({ report: alone as CheckReport, exchange });
    t.equal(missing.exitCode, 3, 'the other request is not stored');
    t.match(missing.sentence, `--only ${requirement}`);
  });
}

void t.test(
  'a deletion that ignores the id is sent again before the one that failed',
  async (t) => {
    const users = new Set<string>();
    const idOf = (path: string): string => decodeURIComponent(path.replace('/users/', ''));
    const time = '2026-11-20T09:30:00Z';
    const create: RouteBehavior = (response, request) => {
      const id = (request.body as { user_id?: unknown } | undefined)?.user_id;
      if (typeof id !== 'string') {
        refusal(400, 'bad_request')(response, request);
        return;
      }
      users.add(id);
      respondWith(201, { user_id: id, created_at: time, status: 'active' })(response, request);
    };
    const removeBy =
      (forget: (id: string) => void): RouteBehavior =>
      (response, request) => {
        const id = idOf(request.path);
        const isKnown = users.has(id);
        forget(id);
        const user = { user_id: id, deleted_at: time, status: 'deleted' };
        (isKnown ? respondWith(200, user) : refusal(404, 'not_found'))(response, request);
      };
    const sandbox = await withSandboxDouble(t, {
      create,
      delete: removeBy(() => {
        users.clear();
      }),
    });
    const path = join(FOLDER, 'clears.json');
    await run(['check', sandbox.url, '--area', 'users', '--seed', 'pairs', '--json', path]);
    const report = JSON.parse(readFileSync(path, 'utf8')) as CheckReport;
    const lost = report.resendable?.exchanges.find(
      ({ exchange, companions }) => exchange.response?.status === 404 && companions !== undefined,
    );
    const exchange = String(lost?.exchange.id);
    const broken = await run(['resend', path, exchange]);
    t.equal(broken.code, 1, broken.stdout + broken.stderr);
    t.match(broken.stdout, /\nTogether\n {2}DELETE \/users\/\S+ -> 200 \(sent before it, exchange/);
    sandbox.setBehavior({ create, delete: removeBy((id) => users.delete(id)) });
    const repaired = await run(['resend', path, exchange]);
    t.equal(repaired.code, 0, repaired.stdout);
  },
);
