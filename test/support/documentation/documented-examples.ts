/**
 * The examples of the documentation as programs to compile, and programs that use the types of the
 * library.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles, ROOT } from '../repository.ts';

/** The modules whose examples are compiled, with the name of the test runner. */
const runners = {
  vitest: 'vitest',
  '@jest/globals': 'jest',
  'node:test': 'node',
} as const;

/** An example from a page. */
export interface DocumentedExample {
  /** File name, such as `docs-library-3.test.ts`. */
  file: string;
  /** The runner that it imports; `library` without one. */
  runner: 'vitest' | 'jest' | 'node' | 'library';
  text: string;
}

const isPage = (path: string): boolean =>
  /^(README\.md$|llms\.txt$|docs\/|skills\/|templates\/)/.test(path) && /\.(md|txt)$/.test(path);

/** Returns the TypeScript and JavaScript examples that import the kit or a test runner. */
export function readDocumentedExamples(): DocumentedExample[] {
  return listFiles()
    .filter(isPage)
    .flatMap((path) => {
      const page = readFileSync(join(ROOT, path), 'utf8');
      const blocks = [...page.matchAll(/^```(ts|js)\b.*\n([\s\S]*?)^```$/gm)];
      return blocks.flatMap(([, language = '', text = ''], index) => {
        const modules = [...text.matchAll(/ from '([^']+)'|^import '([^']+)'/gm)].map(
          ([, from, bare]) => from ?? bare ?? '',
        );
        const runner = Object.entries(runners).find(([name]) => modules.includes(name))?.[1];
        if (!runner && !modules.some((name) => /^sandbox-kit(\/|$)/.test(name))) return [];
        const name = path.replace(/\.(md|txt)$/, '').replaceAll(/[^\w]/g, '-');
        const file = `${name}-${index}.test.${language}`;
        return [{ file, runner: runner ?? 'library', text }];
      });
    });
}

/** Returns an example with its imports in reverse order. */
export function reverseImports({ file, runner, text }: DocumentedExample): DocumentedExample {
  const imports = text.match(/^import [\s\S]*?;\n/gm) ?? [];
  const rest = imports.reduce((left, statement) => left.replace(statement, ''), text);
  return { file: `reversed-${file}`, runner, text: imports.reverse().join('') + rest };
}

const titles = listFiles()
  .filter((path) => /^schemas\/.*\.schema\.json$/.test(path))
  .map((path) => (JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as { title: string }).title);

/** Names every message type. Needs neither `@types/node` nor the DOM library. */
export const messagesProgram: Readonly<Record<string, string>> = {
  'messages.ts': `
    import type { ${titles.join(', ')} } from 'sandbox-kit';
    export * as library from 'sandbox-kit';
    export type All = [${titles.join(', ')}];
  `,
};

/** Use every JSON Schema, and the types of options, results, and handles. */
export const usagePrograms: Readonly<Record<string, string>> = {
  'schemas.ts': titles
    .map(
      (title) =>
        `import ${title} from 'sandbox-kit/schemas/${title}.json' with { type: 'json' };\n${title}.title satisfies string;`,
    )
    .join('\n'),
  'usage.ts': `
    import { check, load, simulate, startAgent, startService, validateExchange } from 'sandbox-kit';
    import { manualClock, systemClock } from 'sandbox-kit';
    import type { CheckReport, Clock, ExchangeFinding, LoadReport, SimulationReport } from 'sandbox-kit';
    import { assertValidMessage, toConform } from 'sandbox-kit/matchers';

    export async function use(url: string, value: unknown): Promise<void> {
      const signal = AbortSignal.timeout(1);
      const report: CheckReport = await check({ url, signal, areas: ['chat', 'health', 'users'] });
      report.requirements satisfies { id: string; verdict: string }[];
      const loaded: LoadReport = await load({ url, profile: 'chat', rate: 20, durationMs: 3000 });
      const simulated: SimulationReport = await simulate({ url, samples: 1, seed: 'x' });
      const headers = new Headers();
      const findings: ExchangeFinding[] = validateExchange({
        request: { method: 'POST', path: '/users', headers: {}, body: {} },
        response: { status: 201, headers, body: {} },
      });
      const script = { rules: [{ when: { turn: 1 }, reply: { content: 'Hello' } }] };
      const agent = await startAgent({ script, faults: [{ kind: 'unhealthy' }] });
      agent.setFaults([{ kind: 'rate_limit', times: 1 }]);
      agent.requests() satisfies { path: string; status: number }[];
      const judge = { baseUrl: 'https://api.example.com/v1', model: 'a-model' };
      const service = await startService({ judge, clock: manualClock(0) });
      service.env.OTEL_EXPORTER_OTLP_ENDPOINT satisfies string;
      (await service.sessions())[0]?.verdict satisfies 'passed' | 'failed' | 'undecided' | undefined;
      await service.advance(1);
      const slow: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms * 2, signal) };
      slow.deadline(1).signal satisfies AbortSignal;
      assertValidMessage(value, 'Health');
      value.status satisfies string;
      toConform(report).pass satisfies boolean;
      console.log(loaded.verdict, simulated.verdict, findings.length);

      // @ts-expect-error An unknown option.
      await check({ url, area: ['chat'] });
      // @ts-expect-error An unknown area.
      await check({ url, areas: ['chats'] });
      // @ts-expect-error Not a signal.
      await check({ url, signal: 1 });
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
