/** What the report says first: root causes, the evidence of a fault, and what was not judged. */
import t from 'tap';
import { sandboxSuite } from '../../conformance/areas/index.ts';
import { terminalReport } from '../../conformance/index.ts';
import { findCauses } from '../../conformance/engine/judge/causes.ts';
import { judgeTranscript } from '../../conformance/engine/judge/judge.ts';
import type { Transcript } from '../../conformance/engine/transcript/transcript.ts';
import {
  always,
  chain,
  changeResponse,
  delay,
  drop,
  editErrors,
  jsonResponse,
  respondInstead,
  set,
  to,
} from '../../conformance/engine/mutants/combinators.ts';
import { editChat, editHealth } from '../../conformance/areas/sandbox-responses.ts';
import type { TransformFactory } from '../../conformance/engine/mutants/mutant.ts';
import type { CheckReport } from '../../src/contract/index.ts';
import { plainStyle } from '../../src/report-kit/terminal.ts';
import { reportOnDefect } from '../support/conformance/fix-first.ts';
import { recordSandboxOnce } from '../support/conformance/recorded-runs.ts';
import { idsWith, rowOf } from '../support/conformance/verdicts.ts';

const textOf = (report: CheckReport): string =>
  terminalReport(report, { style: plainStyle, width: 80 });
const lineOf = (report: CheckReport): string => textOf(report).replaceAll(/\s+/g, ' ');
const failedIds = (report: CheckReport): string[] => idsWith(report, 'fail', 'blocked');

void t.test('errors in another shape are one cause, even on several routes', async (t) => {
  const report = await reportOnDefect(
    t,
    editErrors(always, drop('/error'), set('/detail', 'Invalid input.')),
  );
  t.ok(failedIds(report).length >= 3, failedIds(report).join());
  t.same(
    report.causes.map(({ description }) => description),
    [
      'All routes: one error handler that sends {"error": {"message", "type", "code"}} with the type and code of the status',
    ],
  );
  t.same(report.causes[0]?.clears, failedIds(report), 'it clears every failure');
});

void t.test('refused duplicates have one right name, even those at the same moment', async (t) => {
  const error = { message: 'It exists.', type: 'invalid_request_error', code: 'user_exists' };
  const report = await reportOnDefect(
    t,
    changeResponse(to('create'), (response) =>
      response.body.includes('user_exists') ? jsonResponse(400, { error }) : response,
    ),
    { areas: ['users'] },
  );
  t.same(failedIds(report), ['USERS-075']);
  t.match(
    report.causes[0]?.description,
    /: send for an existing user the type duplicate_user_error and the code user_exists instead of invalid_request_error and user_exists$/,
  );
});

void t.test('missing validation is one cause per route', async (t) => {
  const crash = respondInstead(
    ({ endpoint, body, json }) => {
      if (endpoint !== 'chat') return false;
      const text = JSON.stringify(json ?? null);
      return (
        !/^\{"messages":\[\{"role":"(user|system|assistant)","content":"/.test(text) || body === ''
      );
    },
    () =>
      jsonResponse(500, { error: { message: 'x', type: 'internal_error', code: 'server_error' } }),
  );
  const report = await reportOnDefect(t, crash, { areas: ['chat'] });
  const [first] = report.causes;
  t.match(first, { description: /^POST \/v1\/chat\/completions: validate the body first, / });
  t.ok((first?.clears.length ?? 0) >= 5, 'several requirements');
  t.match(
    lineOf(report),
    /Fix first - POST \/v1\/chat\/completions: validate .* This clears \d+ of \d+/,
  );
});

void t.test(
  'a wrong field is one cause that names the route; causes count what is left',
  async (t) => {
    const report = await reportOnDefect(
      t,
      chain(editChat(set('/choices/0/message/content', null)), editHealth(set('/uptime', '12'))),
    );
    t.same(
      report.causes.map(({ description, clears }) => [description, clears]),
      [
        ['POST /v1/chat/completions: make choices[].message.content a string', ['CHAT-024']],
        ['GET /health: make uptime an integer', ['HEALTH-013']],
      ],
    );
    t.match(lineOf(report), 'This clears 1 of 2 failed or blocked requirements: CHAT-024.');
    t.match(
      textOf(report),
      /GET \/health: make uptime an integer\. This clears 1 more: HEALTH-013\./,
    );
  },
);

void t.test('only failures that a repair can clear are judged again', async (t) => {
  const transcript = await recordSandboxOnce();
  const judgedIds: string[] = [];
  const checks = Object.fromEntries(
    Object.entries(sandboxSuite.checks).map(([id, check]) => [
      id,
      {
        ...check,
        evidence(of: Transcript) {
          judgedIds.push(id);
          return check.evidence(of);
        },
      },
    ]),
  );
  const suite = { ...sandboxSuite, checks };
  t.same(findCauses(suite, transcript, judgeTranscript(sandboxSuite, transcript)), []);
  t.same(judgedIds, [], 'nothing without a failure');
  const broken = {
    run: transcript.run,
    exchanges: transcript.exchanges.map((exchange) =>
      exchange.endpoint === 'health'
        ? { ...exchange, json: { ...(exchange.json as object), uptime: '12', version: 3 } }
        : exchange,
    ),
  };
  const [first, second] = findCauses(suite, broken, judgeTranscript(sandboxSuite, broken));
  t.match(first, { description: /^GET \/health: make version a string/, clears: ['HEALTH-012'] });
  t.match(second, { description: 'GET /health: make uptime an integer', clears: ['HEALTH-013'] });
  t.same([...new Set(judgedIds)].toSorted(), ['HEALTH-012', 'HEALTH-013'], 'only the failures');
  t.ok(judgedIds.length <= 6, `${judgedIds.length} times`);
});

void t.test('evidence of a failure lists only exchanges that show it', async (t) => {
  const report = await reportOnDefect(
    t,
    editChat((body, request) => {
      if (request.body.includes('opening hours'))
        set('/choices/0/message/content', 7)(body, request);
    }),
    { areas: ['chat'] },
  );
  const { evidence = [], findings } = rowOf(report, 'CHAT-024') ?? {};
  t.equal(evidence.length, findings);
  t.same([...new Set(evidence.map(({ step }) => step))], ['prompt']);
});

void t.test('two runs show the same examples', async (t) => {
  const broken = (factor: number): TransformFactory => {
    let nth = 0;
    return chain(
      delay(always, 1),
      () => async (request, forward, clock) => {
        await clock.sleep((++nth * factor) % 13);
        return forward(request);
      },
      editChat(set('/choices/0/message/content', null), drop('/choices/0/message/role')),
      editErrors(always, set('/error/code', 'none')),
    );
  };
  const examplesOf = (report: CheckReport): unknown[] =>
    report.requirements
      .filter(({ verdict }) => verdict === 'fail')
      .map(({ id, pointer, expected, received, evidence }) => [
        ...[id, pointer, expected, received, evidence.map(({ step }) => step)],
      ]);
  const [one, two] = await Promise.all([
    reportOnDefect(t, broken(5), { seed: 'one' }),
    reportOnDefect(t, broken(7), { seed: 'two' }),
  ]);
  t.ok(examplesOf(one).length >= 3);
  t.same(examplesOf(one), examplesOf(two));
});

void t.test(
  'the default output says what was not judged, and that health is unhealthy',
  async (t) => {
    const report = await reportOnDefect(
      t,
      chain(
        respondInstead(to('create'), () => jsonResponse(404, {})),
        respondInstead(to('health'), () =>
          jsonResponse(503, {
            status: 'unhealthy',
            timestamp: new Date().toISOString(),
            error: { message: 'No database.', details: 'Refused.' },
          }),
        ),
      ),
      { areas: ['chat', 'health', 'users', 'voice'] },
    );
    t.equal(report.exitCode, 0, textOf(report));
    const text = lineOf(report);
    t.match(
      text,
      'The sandbox is unhealthy now: GET /health responds with 503 (No database.). The service checks health before each simulation.',
    );
    t.match(
      text,
      "Users were not judged: the sandbox doesn't implement POST /users, which is optional.",
    );
    t.match(
      text,
      /Voice was not judged: no voice endpoint at ws:\S+\/voice\. If voice has another address, set --voice-url\./,
    );
  },
);
