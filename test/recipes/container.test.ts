/** The Dockerfile: linted, without privileges, and with a health check that works. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import t from 'tap';
import { ROOT } from '../support/repository.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { withStartedService } from '../support/services/started-service.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const dockerfile = read('Dockerfile');

interface Line {
  keyword: string;
  content: string;
}

const linesOf = (text: string): Line[] =>
  DockerfileParser.parse(text)
    .getInstructions()
    .map((line) => ({
      keyword: line.getKeyword(),
      content: (line.getArgumentsContent() ?? '').replaceAll(/\\\n\s*/g, ''),
    }));

/** Returns lint findings about a Dockerfile, apart from its syntax. */
function findProblems(text: string): string[] {
  const lines = linesOf(text);
  const all = (keyword: string): string[] =>
    lines.filter((line) => line.keyword === keyword).map(({ content }) => content);
  const stages = all('FROM').length;
  const afterLastFrom = lines.slice(lines.findLastIndex(({ keyword }) => keyword === 'FROM'));
  const user = afterLastFrom.findLast(({ keyword }) => keyword === 'USER')?.content ?? 'root';
  const images = [...all('FROM'), ...all('ARG')].flatMap(
    (content) => /(?:^|=)([a-z][\w./-]*(?::[\w.-]+)?)/.exec(content)?.[1] ?? [],
  );
  const copies = lines.filter(({ keyword }) => keyword === 'COPY' || keyword === 'ADD');
  const isExec = (content = ''): boolean => /^\[.*\]$/s.test(content);
  const problems: [isBroken: boolean, problem: string][] = [
    [stages < 2, 'It has one stage.'],
    [!/^[1-9]\d*(:[1-9]\d*)?$/.test(user), `It runs as ${user}.`],
    [images.some((image) => !/:(?!latest)/.test(image)), 'An image has no fixed tag.'],
    [!isExec(all('ENTRYPOINT').at(-1)), 'The entry point needs a shell, which takes the signals.'],
    [all('HEALTHCHECK').length !== 1, 'It has no health check.'],
    [copies.some(({ keyword }) => keyword === 'ADD'), 'ADD may download or unpack.'],
    [
      copies.some(({ content }) => !/^(\/opt\/sandbox-kit |sandbox-kit-\*\.tgz )/.test(content)),
      'It copies more than the packed kit.',
    ],
  ];
  return problems.flatMap(([isBroken, problem]) => (isBroken ? [problem] : []));
}

void t.test('the Dockerfile has no lint findings', (t) => {
  const findings = (text: string): string[] =>
    validate(text).map(
      ({ message, range }) => `${range.start.line + 1}: ${JSON.stringify(message)}`,
    );
  t.same(findings(dockerfile), []);
  t.not(findings(dockerfile.replace('USER', 'USR')).length, 0, 'the linter finds a mistake');
  t.end();
});

void t.test('the image has few privileges and only the packed kit', (t) => {
  t.same(findProblems(dockerfile), []);
  const broken: [from: string, to: string, problem: RegExp][] = [
    ['USER 1000:1000', 'USER root', /runs as root/],
    ['USER 1000:1000', '', /runs as root/],
    ['USER 1000:1000', 'USER 0:0', /runs as 0:0/],
    ['node:24-bookworm-slim', 'node', /no fixed tag/],
    ['node:24-bookworm-slim', 'node:latest', /no fixed tag/],
    ['ENTRYPOINT ["sandbox-kit"]', 'ENTRYPOINT sandbox-kit', /needs a shell/],
    ['COPY sandbox-kit-*.tgz /tmp/sandbox-kit.tgz', 'COPY . /tmp/', /copies more/],
    ['HEALTHCHECK', 'RUN', /no health check/],
  ];
  for (const [from, to, problem] of broken) {
    t.match(findProblems(dockerfile.replace(from, to)).join(' '), problem, `${from} -> ${to}`);
  }
  t.end();
});

void t.test('the build context has only the packed kit', (t) => {
  const patterns = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  t.same(patterns, ['*', '!sandbox-kit-*.tgz']);
  t.end();
});

/** Runs the health check of the image on this machine and returns its exit code. */
async function checkHealth(env: Record<string, string>): Promise<number | null> {
  const { content = '' } =
    linesOf(dockerfile).find(({ keyword }) => keyword === 'HEALTHCHECK') ?? {};
  const words = JSON.parse(/\[.*\]$/s.exec(content)?.[0] ?? '[]') as string[];
  const [program = '', ...args] = words;
  if (program !== 'node') throw new Error(`The health check runs ${program}.`);
  const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}

void t.test('the health check reports the state of the service and of the agent', async (t) => {
  const service = await withStartedService(t, {
    host: '0.0.0.0',
    keys: [{ key: 'the-service-key' }],
  });
  const { agent } = await withReferenceAgent(t, { voice: null });
  const { port } = new URL(service.url);
  const variable = linesOf(dockerfile).findLast(({ content }) => content.startsWith('HEALTH_URL='));
  const url = (variable?.content ?? '').replace('HEALTH_URL=', '').replace('9090', port);
  const key = { SANDBOX_KIT_SERVICE_API_KEY: 'the-service-key' };
  t.equal(await checkHealth({ HEALTH_URL: url, ...key }), 0);
  t.equal(await checkHealth({ HEALTH_URL: url }), 1, 'without the key');
  t.equal(await checkHealth({ HEALTH_URL: `${agent.url}/health` }), 0);
  t.equal(await checkHealth({ HEALTH_URL: 'http://127.0.0.1:1/' }), 1, 'nothing listens');
});
