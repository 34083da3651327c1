/**
 * The second step of `npm run build`, after the compiler wrote a declaration per source file: API
 * Extractor combines them into one file per entry point, `dist/types/index.d.ts` and
 * `dist/types/matchers.d.ts`, which contain only exported types and what these mention.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type ExtractorMessage,
} from '@microsoft/api-extractor';
import { entryPoints } from './entry-points.ts';

const ROOT = join(import.meta.dirname, '..');
const DECLARATIONS = join(ROOT, 'dist/declarations');
const OUTPUT = join(ROOT, 'dist/types');

/** The entry points with types, by the name of their file in `dist/types/`. */
const sources = { index: entryPoints.index, matchers: entryPoints.matchers };

/** Messages about comments, about progress, and about tags that the kit does not use. */
const IRRELEVANT = /^(tsdoc-|console-|ae-missing-release-tag$)/;

type EntryPoint = keyof typeof sources;

const declarationOf = (name: EntryPoint): string =>
  join(DECLARATIONS, sources[name].replace(/\.ts$/, '.d.ts'));

const outputOf = (name: EntryPoint): string => join(OUTPUT, `${name}.d.ts`);

function createConfig(name: EntryPoint): ExtractorConfig {
  const disabled = { enabled: false };
  return ExtractorConfig.prepare({
    packageJsonFullPath: join(ROOT, 'package.json'),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: ROOT,
      mainEntryPointFilePath: declarationOf(name),
      compiler: { tsconfigFilePath: join(ROOT, 'tsconfig.json') },
      dtsRollup: { enabled: true, untrimmedFilePath: outputOf(name) },
      apiReport: disabled,
      docModel: disabled,
      tsdocMetadata: disabled,
    },
  });
}

/** Writes the types of an entry point, and returns the problems that it has. */
function rollUp(
  name: EntryPoint,
  compilerState: CompilerState,
  isExported: (type: string) => boolean,
): string[] {
  const problems: string[] = [];
  const messageCallback = (message: ExtractorMessage): void => {
    message.logLevel = ExtractorLogLevel.None;
    const { messageId, text } = message;
    if (IRRELEVANT.test(messageId)) return;
    const [, type = ''] = /^The symbol "(\w+)"/.exec(text) ?? [];
    if (messageId === 'ae-forgotten-export' && isExported(type)) return;
    problems.push(`${sources[name]}: ${text}`);
  };
  Extractor.invoke(createConfig(name), { compilerState, localBuild: true, messageCallback });
  return problems;
}

/** Returns the names that a file of `dist/types/` exports. */
function readExports(name: EntryPoint): Set<string> {
  const text = readFileSync(outputOf(name), 'utf8');
  const exported = text.matchAll(/^export declare (?:class|const|function|interface|type) (\w+)/gm);
  return new Set([...exported].map(([, type = '']) => type));
}

rmSync(OUTPUT, { recursive: true, force: true });
const compilerState = CompilerState.create(createConfig('index'), {
  additionalEntryPoints: [declarationOf('index'), declarationOf('matchers')],
});
const indexProblems = rollUp('index', compilerState, () => false);
const exported = readExports('index');
// Users import the types of messages from the main entry point.
const problems = [
  ...indexProblems,
  ...rollUp('matchers', compilerState, (type) => exported.has(type)),
];
if (problems.length > 0) {
  const advice = 'Export each type that an exported one mentions, or mention another type.';
  throw new Error([...problems, advice].join('\n'));
}
rmSync(DECLARATIONS, { recursive: true });
