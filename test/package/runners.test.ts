/** The library and its matchers in Vitest, Jest, and node:test, under each supported version of Node. */
import t from 'tap';
import { readBlocks } from '../support/documentation/library-page.ts';
import { createProject, installNode, NODE_VERSIONS, type Project } from './tarball.ts';

/** An exchange that fails in each runner; the message must name the requirement. */
const BROKEN_EXCHANGE = `{
  request: { method: 'POST', path: '/v1/chat/completions', body: { messages: [] } },
  response: { status: 200, body: { choices: [{ message: { role: 'assistant', content: null } }] } },
}`;

const [vitest = ''] = readBlocks('ts vitest');
const [jest = ''] = readBlocks('js jest');
const nodeTest = readBlocks('ts').find((text) => text.includes('node:test')) ?? '';

const suites: Record<string, string> = {
  'vitest/pass.test.ts': vitest,
  'vitest/fail.test.ts': `
    import { expect, test } from 'vitest';
    import 'sandbox-kit/matchers/vitest';
    test('fails', () => expect(${BROKEN_EXCHANGE}).toConform());
    test('is not', () => expect(${BROKEN_EXCHANGE}).not.toConform());
  `,
  'jest/pass.test.js': jest,
  'jest/extend.test.js': `
    import { expect, test } from '@jest/globals';
    import { load, startAgent, startService, validateExchange } from 'sandbox-kit';
    import { toBeValidMessage, toConform, toHavePassedEval } from 'sandbox-kit/matchers';
    expect.extend({ toBeValidMessage, toConform, toHavePassedEval });
    test('the stand-ins run in Jest', async () => {
      const [agent, service] = await Promise.all([startAgent(), startService()]);
      const health = await (await fetch(agent.url + '/health')).json();
      expect(health).toBeValidMessage('Health');
      expect(validateExchange({
        request: { method: 'GET', path: '/health' },
        response: { status: 200, body: health },
      })).toEqual([]);
      const report = await load({
        url: agent.url, profile: 'health', rate: 5, durationMs: 1000, warmUpMs: 0,
        acceptNotProven: true,
      });
      expect(report.plan.profile).toBe('health');
      await service.drain();
      await Promise.all([agent.stop(), service.stop()]);
    }, 60_000);
  `,
  'jest/fail.test.js': `
    import { expect, test } from '@jest/globals';
    import 'sandbox-kit/matchers/jest';
    test('fails', () => expect(${BROKEN_EXCHANGE}).toConform());
    test('is not', () => expect(${BROKEN_EXCHANGE}).not.toConform());
  `,
  'node/pass.test.ts': nodeTest,
  'node/fail.test.ts': `
    import { test } from 'node:test';
    import { assertConforms } from 'sandbox-kit/matchers';
    test('fails', () => assertConforms(${BROKEN_EXCHANGE}));
  `,
};

const commands: Record<string, (kind: 'pass' | 'fail' | 'extend') => string[]> = {
  vitest: (kind) => ['node_modules/vitest/vitest.mjs', 'run', `vitest/${kind}`],
  jest: (kind) => [
    '--experimental-vm-modules',
    'node_modules/jest/bin/jest.js',
    `jest/${kind}`,
    '--no-cache',
    // A suite that fails leaves its servers open.
    '--forceExit',
  ],
  node: (kind) => ['--test', `node/${kind}.test.ts`],
};

void t.test('conforming suites pass, and broken suites fail', async (t) => {
  const project = await createProject(t, { packages: ['vitest', 'jest'], files: suites });
  for (const wanted of NODE_VERSIONS) {
    const node = await installNode(t, wanted);
    await t.test(`Node ${wanted}`, async (t) => {
      const version = await project.run(node, ['--version']);
      t.match(version.stdout, new RegExp(`^v${wanted.replace('.', '\\.')}\\.`));
      for (const [runner, command] of Object.entries(commands)) {
        const pass = await project.run(node, command('pass'));
        t.equal(pass.code, 0, `${runner} passes`, outputOf(pass));
        const fail = await project.run(node, command('fail'));
        t.equal(fail.code, 1, `${runner} fails`, outputOf(fail));
        t.match(fail.stdout + fail.stderr, /CHAT-024/, `${runner} names the requirement`);
      }
      const extend = await project.run(node, commands['jest']?.('extend') ?? []);
      t.equal(extend.code, 0, 'jest with expect.extend', outputOf(extend));
    });
  }
});

const outputOf = ({ stdout, stderr }: Awaited<ReturnType<Project['run']>>): object => ({
  stdout: stdout.slice(-3_000),
  stderr: stderr.slice(-3_000),
});
