/** The matchers and assertion functions: their results and their messages. */
import { AssertionError } from 'node:assert';
import t from 'tap';
import { schemas } from '../../../src/contract/index.ts';
import {
  assertConforms,
  assertPassedEval,
  assertValidMessage,
  toBeValidMessage,
  toConform,
  toHavePassedEval,
} from '../../../library/matchers/index.ts';
import { failed, report, row } from '../../support/conformance/check-report.ts';

const [reply] = schemas.ChatResponse.examples;
const path = '/v1/chat/completions';
const request = { method: 'POST', path, body: { messages: [{ role: 'user', content: 'Hi.' }] } };
const exchangeOf = (body: unknown) => ({ request, response: { status: 200, body } });

void t.test('toConform takes reports and exchanges', (t) => {
  t.ok(toConform(report([row('CHAT-024')])).pass);
  t.match(
    toConform(report([row('CHAT-024')])).message(),
    'Expected http://127.0.0.1:1 not to conform, but it does.',
  );
  t.ok(toConform(exchangeOf(reply)).pass);
  for (const value of [undefined, 'http://127.0.0.1:1', {}, [], { verdict: 'conforming' }]) {
    t.throws(() => toConform(value), { name: 'TypeError', message: /takes a report of check\(\)/ });
  }
  t.end();
});

void t.test('the message about a failed report shows the first failures', (t) => {
  const rows = ['CHAT-020', 'CHAT-021', 'CHAT-022', 'CHAT-023', 'CHAT-024', 'CHAT-025'];
  const judged = toConform(
    report(
      [...rows.map((id) => row(id, failed)), row('USERS-001', { ...failed, accepted: 'yes' })],
      {
        verdict: 'not-conforming',
        exitCode: 1,
        causes: [
          { description: 'Send the content as a string', clears: ['CHAT-024'], verified: true },
        ],
      },
    ),
  );
  t.notOk(judged.pass);
  const message = judged.message();
  t.match(message, 'Expected http://127.0.0.1:1 to conform, but 6 requirements failed.');
  t.match(message, 'Fix first: Send the content as a string (clears 1).');
  t.match(message, 'CHAT-020  The content of the message is a string.');
  t.match(message, '  at        /choices/0/message/content');
  t.match(message, '  expected  a string');
  t.match(message, '  received  null');
  t.match(message, /And 2 more\.$/);
  t.notMatch(message, 'USERS-001', 'an accepted failure is not shown');
  t.end();
});

void t.test('stale known failures and blocked runs fail with their reason', (t) => {
  const stale = report([row('CHAT-024')], {
    verdict: 'not-conforming',
    exitCode: 1,
    staleKnownFailures: ['CHAT-024'],
  });
  t.match(toConform(stale).message(), /but 1 known failure is stale\.\n\nCHAT-024 {2}is a known/);
  const blocked = report([row('CHAT-024', { verdict: 'blocked' })], {
    verdict: 'not-judged',
    exitCode: 3,
    blockedBy: { id: 'refused', message: "Can't connect.", cure: 'Start it.', evidence: [] },
  });
  t.notOk(toConform(blocked).pass);
  t.equal(
    toConform(blocked).message(),
    "http://127.0.0.1:1 could not be judged: Can't connect. Start it.",
  );
  t.end();
});

void t.test('a failed exchange names its route, the rule, and the repair', (t) => {
  const broken = structuredClone<unknown>(reply) as {
    choices: { message: { content: unknown } }[];
  };
  for (const choice of broken.choices) choice.message.content = null;
  const judged = toConform(exchangeOf(broken));
  t.notOk(judged.pass);
  t.match(judged.message(), /^Expected POST \/v1\/chat\/completions to conform, but 1 requirement/);
  t.match(judged.message(), 'CHAT-024');
  t.match(judged.message(), /repair {4}POST .*make choices\[\]\.message\.content a string/);
  t.end();
});

void t.test('toBeValidMessage validates by the title of the schema', (t) => {
  for (const { title, examples } of Object.values(schemas)) {
    for (const example of examples) t.ok(toBeValidMessage(example, title).pass, title);
  }
  const judged = toBeValidMessage({ choices: 1 }, 'ChatResponse');
  t.notOk(judged.pass);
  t.match(
    judged.message(),
    /^Expected a valid ChatResponse, but the value has 1 error\.\n\n {2}\/choices/,
  );
  t.match(toBeValidMessage(undefined, 'Health').message(), 'the value must be');
  t.throws(() => toBeValidMessage({}, 'ChatRespnse' as 'ChatResponse'), {
    name: 'TypeError',
    message: 'toBeValidMessage: Unknown message "ChatRespnse". Did you mean ChatResponse?',
  });
  t.end();
});

void t.test('toHavePassedEval needs an outcome, and a pass in every session', (t) => {
  const session = (outcome: string, more = {}) => ({
    scenario: 'Refund',
    sample: 1,
    errored_evals: [],
    eval_outcomes: [{ eval_name: 'Refunded', outcome, reasoning: 'It says so.' }],
    ...more,
  });
  const passed = { sessions: [session('pass'), session('pass', { sample: 2 })] };
  t.ok(toHavePassedEval(passed, 'Refunded').pass);
  t.match(toHavePassedEval(passed, 'Refunded').message(), 'it passed in 2 sessions.');
  const missed = { sessions: [session('pass'), session('fail', { sample: 2 })] };
  const judged = toHavePassedEval(missed, 'Refunded');
  t.notOk(judged.pass);
  t.equal(
    judged.message(),
    'Expected the eval "Refunded" to pass, but it did not in 1 of 2 sessions.\n\nRefund, sample 2\n  fail      It says so.',
  );
  const errored = session('', {
    eval_outcomes: [],
    errored_evals: [{ eval: 'refunded', eval_name: 'Refunded', reasoning: 'No judge.' }],
  });
  t.notOk(toHavePassedEval(errored, 'refunded').pass, 'an eval that errored did not pass');
  t.match(
    toHavePassedEval(passed, 'Refundd').message(),
    /no session has an outcome for it\. Did you mean Refunded\?$/,
  );
  t.match(toHavePassedEval(passed, 'Politeness').message(), /Evals: Refunded\.$/);
  const [verdict] = schemas.SessionVerdict.examples;
  const [outcome] = verdict.outcomes;
  t.equal(
    toHavePassedEval([verdict], outcome.eval).pass,
    outcome.outcome === ('pass' as string),
    'sessions of the service, by the id of the eval',
  );
  for (const value of [undefined, {}, [], { sessions: [] }, [{ id: 'a' }], 'a report']) {
    t.throws(() => toHavePassedEval(value, 'Refunded'), { name: 'TypeError' });
  }
  for (const value of [[], { sessions: [] }, { items: [] }]) {
    t.throws(() => assertPassedEval(value, 'Refunded'), {
      name: 'TypeError',
      message:
        'assertPassedEval: There are no sessions to judge. If they come from service.sessions(), close the conversations and await service.drain() first. If they come from the results endpoints, check the filters of the request.',
    });
  }
  const blockedBy = { message: 'Nothing accepts connections.', cure: 'Start the sandbox.' };
  t.throws(() => toHavePassedEval({ sessions: [], blockedBy }, 'Refunded'), {
    name: 'TypeError',
    message:
      'toHavePassedEval: There are no sessions to judge. Nothing accepts connections. Start the sandbox.',
  });
  t.end();
});

void t.test('a promise that is passed by mistake gets a hint', (t) => {
  const promise = Promise.resolve({});
  const message = /^\w+: Got a promise\. Did you forget await\?$/;
  const calls: [caller: string, call: () => unknown][] = [
    ['toConform', () => toConform(promise)],
    ['toBeValidMessage', () => toBeValidMessage(promise, 'Health')],
    ['toHavePassedEval', () => toHavePassedEval(promise, 'Refunded')],
    ['assertConforms', () => assertConforms(promise)],
  ];
  for (const [caller, call] of calls) {
    const error = t.throws(call, { name: 'TypeError', message }) as unknown as Error;
    t.ok(error.message.startsWith(`${caller}: `));
  }
  t.throws(() => toConform({ request, response: promise }), {
    message: 'toConform: response is a promise. Did you forget await?',
  });
  t.end();
});

void t.test('the assertion functions throw an AssertionError with the same message', (t) => {
  const broken = exchangeOf({ choices: 1 });
  const fails = (run: () => void, message: string): void => {
    const error = t.throws(run) as unknown as AssertionError;
    t.ok(error instanceof AssertionError);
    t.equal(error.message, message);
    t.match(error.stack, 'matchers.test.ts');
  };
  fails(() => assertConforms(broken), toConform(broken).message());
  fails(() => assertValidMessage({}, 'Health'), toBeValidMessage({}, 'Health').message());
  const session = { outcomes: [] };
  fails(() => assertPassedEval(session, 'a'), toHavePassedEval(session, 'a').message());
  assertConforms(exchangeOf(reply));
  const value: unknown = structuredClone(reply);
  assertValidMessage(value, 'ChatResponse');
  t.type(value.choices.length, 'number', 'the type is narrowed');
  t.end();
});
