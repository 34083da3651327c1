/**
 * The types of the packed kit: they compile with `strict` and without `skipLibCheck`, next to the
 * current OpenTelemetry packages, which one `npm install` brings together with the kit.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readBlocks } from '../helpers/library-page.ts';
import { ROOT } from '../helpers/repository.ts';
import { createProject } from './tarball.ts';

const openTelemetry = [
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-node',
  '@opentelemetry/sdk-trace',
];

const titles = readdirSync(join(ROOT, 'schemas'))
  .filter((file) => file.endsWith('.schema.json'))
  .map((file) => {
    const text = readFileSync(join(ROOT, 'schemas', file), 'utf8');
    return (JSON.parse(text) as { title: string }).title;
  });

/** Uses every message type, every JSON Schema, and the types of options, results, and handles. */
const programs: Record<string, string> = {
  'messages.ts': `
    import type { ${titles.join(', ')} } from 'sandbox-kit';
    export type All = [${titles.join(', ')}];
  `,
  'schemas.ts': titles
    .map(
      (title) =>
        `import ${title} from 'sandbox-kit/schemas/${title}.json' with { type: 'json' };\n${title}.title satisfies string;`,
    )
    .join('\n'),
  'usage.ts': `
    import { check, load, simulate, startAgent, startService, validateExchange } from 'sandbox-kit';
    import type { CheckReport, ExchangeFinding, LoadReport, SimulationReport } from 'sandbox-kit';
    import { assertValidMessage, toConform } from 'sandbox-kit/matchers';

    export async function use(url: string, value: unknown): Promise<void> {
      const report: CheckReport = await check({ url, areas: ['chat', 'health', 'users'] });
      report.requirements satisfies { id: string; verdict: string }[];
      const loaded: LoadReport = await load({ url, profile: 'chat', rate: 20, durationMs: 3000 });
      const simulated: SimulationReport = await simulate({ url, samples: 1, seed: 'x' });
      const headers = new Headers();
      const findings: ExchangeFinding[] = validateExchange({
        request: { method: 'POST', path: '/users', headers: {}, body: {} },
        response: { status: 201, headers, body: {} },
      });
      const agent = await startAgent({ faults: [{ kind: 'unhealthy' }] });
      agent.setFaults([{ kind: 'rate_limit', times: 1 }]);
      agent.requests() satisfies { path: string; status: number }[];
      const service = await startService();
      service.env.OTEL_EXPORTER_OTLP_ENDPOINT satisfies string;
      (await service.sessions())[0]?.verdict satisfies 'passed' | 'failed' | 'undecided' | undefined;
      await service.advance(1);
      assertValidMessage(value, 'Health');
      value.status satisfies string;
      toConform(report).pass satisfies boolean;
      console.log(loaded.verdict, simulated.verdict, findings.length);

      // @ts-expect-error An unknown option.
      await check({ url, area: ['chat'] });
      // @ts-expect-error An unknown area.
      await check({ url, areas: ['chats'] });
      // @ts-expect-error A missing option.
      await load({ rate: 5 });
      // @ts-expect-error An unknown kind.
      agent.setFaults([{ kind: 'nothing' }]);
      // @ts-expect-error An unknown message.
      assertValidMessage(value, 'Healthy');
      // @ts-expect-error A number.
      await service.advance('1');
      // @ts-expect-error No such field.
      console.log(report.verdicts.length);
    }
  `,
};

const resolutions = {
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'preserve', moduleResolution: 'bundler' },
};

const configOf = (options: object): string =>
  JSON.stringify({
    compilerOptions: {
      ...{ strict: true, noEmit: true, target: 'es2023', types: ['node'] },
      ...{ resolveJsonModule: true, skipLibCheck: false, ...options },
    },
    include: ['*.ts'],
  });

void t.test('types compile strictly next to the current OpenTelemetry packages', async (t) => {
  const examples = readBlocks('ts').map((text, index): [string, string] => [
    `example-${index}.ts`,
    text,
  ]);
  const project = await createProject(t, {
    packages: ['typescript', '@types/node', 'node', ...openTelemetry],
    files: { ...programs, ...Object.fromEntries(examples) },
  });
  for (const [name, options] of Object.entries(resolutions)) {
    const file = `tsconfig.${name}.json`;
    project.write({ [file]: configOf(options) });
    const tsc = ['node_modules/typescript/bin/tsc', '-p', file];
    const { code, stdout } = await project.run(process.execPath, tsc);
    t.equal(stdout.slice(0, 3_000), '', name);
    t.equal(code, 0, name);
  }
});
