/**
 * The GitHub Action: its steps run unchanged against sandboxes on loopback. The kit comes from a
 * directory; `test/package/recipes.test.ts` installs it from a tarball.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import type { CheckReport } from '../../src/contract/index.ts';
import { atNight } from '../support/nightly.ts';
import { ROOT } from '../support/repository.ts';
import {
  respondToAll,
  respondWith,
  withSandboxDouble,
} from '../support/sandboxes/sandbox-double.ts';
import { startTextAgent } from '../support/sandboxes/text-agent.ts';
import { readAction, runAction, type ActionResult } from './action-runner.ts';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};

/** A package directory whose command runs the sources. */
const kit = {
  'package.json': JSON.stringify({ name: 'sandbox-kit', type: 'module' }),
  bin: {
    'sandbox-kit.js': `await import('${pathToFileURL(join(ROOT, 'cli/main.ts')).href}');\n`,
  },
};

const readReport = ({ outputs }: ActionResult): CheckReport =>
  JSON.parse(readFileSync(outputs['report'] ?? '', 'utf8')) as CheckReport;

void t.test('a conforming sandbox passes, and the job gets outputs and a summary', async (t) => {
  const url = await startTextAgent(t, { apiKey: 'the-key' });
  const workspace = t.testdir({ kit, app: {} });
  const result = await runAction({
    workspace,
    inputs: { url, areas: 'health, users', version: '../kit', 'working-directory': 'app' },
    env: { SANDBOX_KIT_API_KEY: 'the-key' },
  });
  t.equal(result.code, 0, result.log);
  const directory = join(workspace, 'app/sandbox-kit-report');
  t.same(result.outputs, {
    verdict: 'conforming',
    'exit-code': '0',
    report: join(directory, 'check.json'),
    'report-directory': directory,
  });
  for (const name of ['check.json', 'check.xml', 'check.html', 'check.md']) {
    t.ok(existsSync(join(directory, name)), name);
  }
  t.equal(result.summary, readFileSync(join(directory, 'check.md'), 'utf8'));
  t.match(result.summary, /conforming/i);
  const { requirements } = readReport(result);
  const judged = requirements.filter(({ verdict }) => verdict !== 'not_selected');
  t.same([...new Set(judged.map(({ area }) => area))].sort(), ['health', 'users']);
});

void t.test('a broken sandbox fails the job, and the outputs show it', async (t) => {
  const { url } = await withSandboxDouble(t, respondToAll(respondWith(200, { status: 'fine' })));
  const inputs = { url, areas: 'health', version: 'kit', args: '--seed "nightly"\n--strict' };
  const result = await runAction({ workspace: t.testdir({ kit }), inputs });
  t.equal(result.code, 1, result.log);
  t.match(result.outputs, { verdict: 'not-conforming', 'exit-code': '1' });
  t.equal(readReport(result).seed, 'nightly', 'quotes in args are removed');
  t.match(result.summary, /HEALTH-010/);
});

void t.test('a sandbox that does not respond is not judged', async (t) => {
  const inputs = { url: 'http://127.0.0.1:1', version: 'kit', 'wait-seconds': '1' };
  const result = await runAction({ workspace: t.testdir({ kit }), inputs });
  t.equal(result.code, 3, result.log);
  t.match(result.outputs, { verdict: 'not-judged', 'exit-code': '3' });
});

void t.test('an input is never run as code', async (t) => {
  const workspace = t.testdir({ kit });
  const inputs = { url: 'http://127.0.0.1:1/$(touch ran)`touch ran`', version: 'kit' };
  const result = await runAction({
    workspace,
    inputs: { ...inputs, args: '$(touch ran)', 'wait-seconds': '0' },
  });
  t.not(result.code, 0);
  t.notOk(existsSync(join(workspace, 'ran')));
  for (const { run } of readAction().runs.steps) {
    t.notMatch(run, /\$\{\{/, 'inputs reach the scripts as variables');
  }
});

void t.test('a usage error does not show the verdict of an earlier run', async (t) => {
  const workspace = t.testdir({ kit, 'sandbox-kit-report': { 'check.json': '{"verdict":"old"}' } });
  const inputs = { url: 'http://127.0.0.1:1', areas: 'helth', version: 'kit', 'wait-seconds': '0' };
  const result = await runAction({ workspace, inputs });
  t.equal(result.code, 2, result.log);
  t.match(result.outputs, { verdict: '', 'exit-code': '2' });
  t.match(result.log, /Did you mean health\?/);
});

void t.test('without a URL, the action checks the sandbox in the configuration file', async (t) => {
  const url = await startTextAgent(t);
  const config = `url: ${url}\ncheck: { area: health }\n`;
  const workspace = t.testdir({ kit, 'sandbox-kit.config.yaml': config });
  const result = await runAction({ workspace, inputs: { version: 'kit' } });
  t.equal(result.code, 0, result.log);
  t.equal(readReport(result).target, url);
});

void t.test('by default, the kit of the project is used', async (t) => {
  const workspace = t.testdir({ node_modules: { 'sandbox-kit': kit } });
  const url = await startTextAgent(t);
  const result = await runAction({ workspace, inputs: { url, areas: 'health' } });
  t.equal(result.code, 0, result.log);
});

/** Replaces npm: records its arguments, and adds the package. */
const fakeNpm = `#!/bin/sh
printf '%s\\n' "$@" > "$RUNNER_TEMP/npm-arguments"
mkdir -p "$RUNNER_TEMP/sandbox-kit/node_modules"
cp -R "$GITHUB_WORKSPACE/kit" "$RUNNER_TEMP/sandbox-kit/node_modules/sandbox-kit"
`;

void t.test('the input version chooses the package that npm installs', async (t) => {
  const cases: [input: string, installed: string][] = [
    ['', `sandbox-kit@${version}`],
    ...atNight<[string, string][]>(
      [
        ['^0.1', 'sandbox-kit@^0.1'],
        ['next', 'sandbox-kit@next'],
      ],
      [],
    ),
    ['dist/sandbox-kit-0.1.0.tgz', '/dist/sandbox-kit-0.1.0.tgz'],
  ];
  for (const [input, installed] of cases) {
    const workspace = t.testdir({ kit, dist: {}, bin: {} });
    const npm = join(workspace, 'bin/npm');
    writeFileSync(npm, fakeNpm, { mode: 0o755 });
    const url = await startTextAgent(t);
    const inputs = { url, areas: 'health', version: input };
    const result = await runAction({ workspace, inputs, path: [join(workspace, 'bin')] });
    t.equal(result.code, 0, result.log);
    const args = readFileSync(join(workspace, '.runner/npm-arguments'), 'utf8').trim().split('\n');
    t.equal(args[0], 'install');
    t.ok(args.at(-1)?.endsWith(installed), `${args.at(-1) ?? ''} for version ${input}`);
  }
});

void t.test('an old Node is an error before npm runs', async (t) => {
  for (const [nodeVersion, isOld] of [
    ['v20.20.2', true],
    ['v22.18.0', true],
    ['v22.19.0', false],
    ['v24.0.0', false],
  ] as const) {
    const workspace = t.testdir({ bin: {} });
    const node = join(workspace, 'bin/node');
    writeFileSync(node, `#!/bin/sh\necho ${nodeVersion}\n`, { mode: 0o755 });
    const inputs = { url: 'http://127.0.0.1:1', version: ROOT, 'wait-seconds': '0' };
    const { log } = await runAction({ workspace, inputs, path: [join(workspace, 'bin')] });
    const message = `::error title=sandbox-kit::Node 22.19 or newer is required, found ${nodeVersion}.`;
    t.equal(log.includes(message), isOld, log);
  }
});

void t.test('the documentation uses the current version of the action', (t) => {
  for (const path of ['docs/ci.md', 'docs/recipes/github.yml']) {
    const uses = /uses: (sandbox-kit\/.*)/.exec(readFileSync(join(ROOT, path), 'utf8'))?.[1];
    t.equal(uses, `sandbox-kit/sandbox-kit@v${version}`, path);
  }
  t.end();
});

void t.test('every input and output is described', (t) => {
  const { inputs, outputs, runs } = readAction();
  t.same(Object.keys(inputs).slice(0, 4), ['url', 'areas', 'version', 'args']);
  for (const [name, { description }] of Object.entries({ ...inputs, ...outputs })) {
    t.ok(description.length > 10, name);
  }
  t.equal(runs.using, 'composite');
  t.end();
});
