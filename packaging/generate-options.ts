/**
 * Generates the types of the library's options from their tables, with docstrings, so that editors show
 * what an option does. `npm run generate` runs it. With `--check` it writes nothing and exits 1 if a
 * file is out of date.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { format, resolveConfig } from 'prettier';
import * as tables from '../conformance/options.ts';
import { loadOptions, mergeLoadOptions } from '../load/options.ts';
import { agentOptions, voiceOptions } from '../reference-agent/options.ts';
import { callOptions } from '../src/options/call.ts';
import type { OptionTable } from '../src/options/option.ts';
import { runOptions } from '../src/options/run.ts';
import { flagNameOf } from '../src/options/table.ts';
import { serviceOptions } from '../src/service/options.ts';
import { simulateOptions } from '../src/service/simulator/options.ts';

const ROOT = join(import.meta.dirname, '..');

/** A type to generate. */
interface OptionsType {
  name: string;
  about: string;
  table: OptionTable;
  /** Whether the type extends `RunOptions`. */
  isRun?: boolean;
  /** Whether fields are required or, unlike by default, may not be undefined. */
  fields?: 'optional' | 'required';
}

const runType = (name: string, job: string, table: OptionTable): OptionsType => ({
  name,
  table,
  isRun: true,
  about: `Options of \`${job}\`. Only \`url\` is required.`,
});

const startType = (name: string, job: string, table: OptionTable): OptionsType => ({
  name,
  table,
  fields: 'required',
  about: `The options of \`${job}\`.`,
});

/** The types by the file that contains them. */
const typesByFile: Readonly<Record<string, readonly OptionsType[]>> = {
  'src/options/generated/options.ts': [
    {
      name: 'RunOptions',
      about: 'Options of every run: the connection, the seed, and the signal.',
      table: runOptions,
    },
    { name: 'CallTarget', about: 'Settings of the calls of a run.', table: callOptions },
  ],
  'conformance/generated/options.ts': [
    runType('CheckOptions', 'check', tables.checkOptions),
    {
      name: 'GradeOptions',
      about: 'Options of `grade`. Only `recordFile` is required.',
      table: tables.gradeOptions,
    },
    {
      name: 'ResendOptions',
      about: 'Options of `resend`. Only `report` and `exchange` are required.',
      table: tables.resendOptions,
    },
    runType('DiagnoseOptions', 'diagnose', tables.diagnoseOptions),
    {
      name: 'JudgeClientOptions',
      about: 'Options of `service.judgeClient`.',
      table: tables.judgeClientOptions,
    },
  ],
  'load/generated/options.ts': [
    runType('LoadOptions', 'load', loadOptions),
    {
      name: 'MergeLoadOptions',
      about: 'Options of `mergeLoadReports`.',
      table: mergeLoadOptions,
    },
  ],
  'reference-agent/generated/options.ts': [
    startType('AgentOptions', 'startAgent', agentOptions),
    {
      name: 'VoiceOptions',
      about: 'How an agent accepts calls.',
      table: voiceOptions,
      fields: 'optional',
    },
  ],
  'src/service/generated/options.ts': [
    runType('SimulateOptions', 'simulate', simulateOptions),
    startType('ServiceOptions', 'startService', serviceOptions),
  ],
};

/** The modules of the types that options have. All others are in src/contract. */
const modules: Readonly<Record<string, readonly string[]>> = {
  'src/options/generated/options.ts': ['CallTarget', 'RunOptions'],
  'src/options/shared.ts': ['KnownFailure'],
  'src/platform/clock.ts': ['Clock', 'StopSignal'],
  'src/platform/connection.ts': ['ClientCertificate'],
  'src/platform/log.ts': ['Log'],
  'src/platform/proxy.ts': ['ProxySettings'],
  'load/progress.ts': ['LoadProgress'],
  'load/schedule/shard-option.ts': ['LoadShardOptions'],
  'reference-agent/tls.ts': ['TlsOptions'],
  'src/service/model/endpoint.ts': ['ModelEndpoint'],
  'src/service/options.ts': ['ServiceKey'],
  'src/voice/speech/index.ts': ['SpeechModel'],
  'src/voice/transcription/index.ts': ['TranscriptionModel'],
};

const HEADER =
  '// Generated from tables of options by packaging/generate-options.ts, do not edit.\n';

/** Returns the generated files by their path from the root of the repository. */
async function generateOptions(): Promise<Record<string, string>> {
  const config = await resolveConfig(join(ROOT, 'package.json'));
  const files = Object.entries(typesByFile).map(async ([path, types]) => {
    const text = types.map(formatType).join('\n');
    const source = `${HEADER}${formatImports(path, text)}\n${text}`;
    return [path, await format(source, { ...config, parser: 'typescript' })] as const;
  });
  return Object.fromEntries(await Promise.all(files));
}

function formatType({ name, about, table, isRun = false, fields: form }: OptionsType): string {
  const fields = Object.entries(table)
    .filter(([key, entry]) => !('isFlagOnly' in entry) && !(isRun && key in runOptions))
    .map(([key, entry]) => {
      const { code } = entry;
      const isRequired = form === 'required' || ('isRequired' in entry && entry.isRequired);
      const type = code.type.includes('=>') && !isRequired ? `(${code.type})` : code.type;
      const field = isRequired
        ? `${key}: ${type}`
        : `${key}?: ${type}${form === 'optional' ? '' : ' | undefined'}`;
      return `${formatComment(nameOptions(code.about, table), '  ')}  ${field};\n`;
    });
  const heritage = isRun ? ' extends RunOptions' : '';
  return `${formatComment(about, '')}export interface ${name}${heritage} {\n${fields.join('')}}\n`;
}

/** Replaces flags such as `--warm-up` in a text by the names of the options in code. */
function nameOptions(text: string, table: OptionTable): string {
  return text.replaceAll(/--([a-z][a-z-]*)/g, (spelled, flag: string) => {
    const name = Object.keys(table).find((key) => flagNameOf(table, key) === flag);
    return name === undefined ? spelled : `\`${name}\``;
  });
}

const WIDTH = 100;

function formatComment(text: string, indent: string): string {
  const line = `${indent}/** ${text} */`;
  if (line.length <= WIDTH) return `${line}\n`;
  const lines: string[] = [];
  let current = `${indent} *`;
  for (const word of text.split(' ')) {
    if (`${current} ${word}`.length > WIDTH) {
      lines.push(current);
      current = `${indent} *`;
    }
    current += ` ${word}`;
  }
  return `${[`${indent}/**`, ...lines, current, `${indent} */`].join('\n')}\n`;
}

/** Returns the imports of the types that a text mentions. */
function formatImports(path: string, text: string): string {
  const code = text.replaceAll(/\/\*\*[^]*?\*\/|'[^']*'/g, '');
  const declared = [...code.matchAll(/interface (\w+)/g)].map(([, name = '']) => name);
  const mentioned = [...code.matchAll(/\b[A-Z]\w+/g)].map(([name]) => name);
  const builtIn = ['Readonly', 'Record', 'Partial'];
  const names = [...new Set(mentioned)].filter(
    (name) => !declared.includes(name) && !builtIn.includes(name),
  );
  const moduleOf = (name: string): string =>
    Object.entries(modules).find(([, each]) => each.includes(name))?.[0] ?? 'src/contract/index.ts';
  const byModule = Map.groupBy(names.sort(), moduleOf);
  return [...byModule]
    .map(([module, each]) => {
      const target = relative(dirname(path), module);
      const specifier = target.startsWith('.') ? target : `./${target}`;
      return `import type { ${each.join(', ')} } from '${specifier}';\n`;
    })
    .sort()
    .join('');
}

const CHECK = process.argv.includes('--check');

for (const [path, source] of Object.entries(await generateOptions())) {
  const file = join(ROOT, path);
  if (!CHECK) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, source);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== source) {
    console.error(`${path} is out of date. Run npm run generate.`);
    process.exitCode = 1;
  }
}
