import { join } from 'node:path';
import { quoteArgument } from '../../src/platform/shell.ts';
import { defineCommand, optionalArgument, type ValuesOf } from '../command.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { requiredOption, switchOption } from '../../src/options/option.ts';
import * as values from '../../src/options/values.ts';
import { createTerminal } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';
import {
  findKitDependency,
  isNpmOnOldNode,
  NODE_PACKAGE,
  packageNameOf,
  type KitDependency,
} from '../project/package-json.ts';
import {
  describeTemplate,
  readTemplate,
  templateNames,
  VOICE_TEMPLATE,
  type ProjectFile,
} from '../project/templates.ts';
import { writeProject } from '../project/write-project.ts';

const positionals = {
  dir: optionalArgument(values.filePath, 'Directory of the sandbox (default: .)'),
};

const options = {
  template: requiredOption(
    values.oneOf(templateNames),
    'NAME',
    `Template: ${templateNames.join(', ')}`,
  ),
  voice: switchOption(`Add voice calls; ${VOICE_TEMPLATE} only`),
  force: switchOption('Overwrite existing files'),
  json: switchOption('Print the result as one line of JSON'),
};

type InitFlags = ValuesOf<typeof positionals, typeof options>;

export const init = defineCommand({
  description: [
    'Writes a small sandbox with chat, health, and users, a test that checks it, a configuration file, and a CI workflow. If one of these files exists, writes nothing, unless --force is given.',
  ],
  arguments: positionals,
  options,
  examples: [
    { command: 'sandbox-kit init my-sandbox --template express' },
    { command: 'sandbox-kit init my-sandbox --template node --voice' },
    { command: 'sandbox-kit init --template fastapi' },
  ],
  notes: [
    'With --json, prints one object with directory, template, voice, name, kit, agentFile, files, and commands.',
  ],
  run(flags, { process }) {
    const { dir: directory = '.', template: name, voice: hasVoice } = flags;
    if (hasVoice && name !== VOICE_TEMPLATE) {
      throw new UsageError(`--voice needs --template ${VOICE_TEMPLATE}.`);
    }
    const kit = findKitDependency(directory);
    const read = (projectName: string): ProjectFile[] =>
      readTemplate(name, {
        hasVoice,
        values: { PROJECT_NAME: projectName, KIT_VERSION: escapeJson(kit.spec) },
      });
    const projectName = packageNameOf(directory, dependenciesOf(read('')));
    const files = read(projectName);
    writeProject(directory, files, { canOverwrite: flags.force });
    introduce(flags, { directory, projectName, kit, files }, process);
    return exitCodes.ok;
  },
});

/** Escapes a text for a JSON string; the path of a tarball may contain any character. */
const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Returns the packages that a project depends on. */
function dependenciesOf(files: readonly ProjectFile[]): string[] {
  const text = files.find(({ path }) => path === 'package.json')?.text ?? '{}';
  const { dependencies = {}, devDependencies = {} } = JSON.parse(text) as Partial<
    Record<'dependencies' | 'devDependencies', Record<string, string>>
  >;
  return Object.keys({ ...dependencies, ...devDependencies });
}

/** Where a project gets a kit that no registry may have. */
const ORIGINS = {
  tarball: 'It installs sandbox-kit from the same tarball as this installation:',
  clone: "It uses the sandbox-kit of this clone, which its CI workflow can't reach:",
};

interface CreatedProject {
  directory: string;
  projectName: string;
  kit: KitDependency;
  files: readonly ProjectFile[];
}

/** Prints the files and the next commands: as JSON for programs, or as text for people. */
function introduce(
  { template: name, voice, json }: InitFlags,
  { directory, projectName, kit, files }: CreatedProject,
  { stdout, env }: CommandProcess,
): void {
  const { framework, agentFile, setUp, install } = describeTemplate(name);
  const npmInstall = isNpmOnOldNode(env) ? `npm install --save-dev ${NODE_PACKAGE}` : 'npm install';
  const isHere = join(directory) === '.';
  const commands = [
    ...(isHere ? [] : [`cd ${quoteArgument(directory)}`]),
    ...(setUp === undefined ? [] : [setUp]),
    install === undefined ? npmInstall : `${install} && ${npmInstall}`,
    'npm test',
    ...(isHere ? ['npm start'] : []),
  ];
  if (json) {
    const paths = files.map(({ path }) => path);
    const created = { directory, template: name, voice, name: projectName, kit: kit.spec };
    stdout.write(`${JSON.stringify({ ...created, agentFile, files: paths, commands })}\n`);
    return;
  }
  const { write, style } = createTerminal(stdout, env);
  const place = isHere ? 'this directory' : directory;
  const made = `a sandbox with ${framework}${voice ? ' and voice calls' : ''}`;
  const lines = [
    `Created ${style('bold', made)} in ${place}: ${files.length} files.`,
    `Your agent goes in ${join(directory, agentFile)}.`,
    ...(kit.local === undefined ? [] : [ORIGINS[kit.local.kind], `  ${kit.local.path}`]),
    '',
    'Next:',
    ...commands.map((command) => `  ${command}`),
  ];
  write(`${lines.join('\n')}\n`);
}
