/** A program in the place of kubectl, which runs the pods of a Job as processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: {
    completionMode: string;
    completions: number;
    parallelism: number;
    template: {
      spec: {
        containers: {
          image: string;
          command: [string, string, string];
          env: { name: string; value?: string }[];
        }[];
      };
    };
  };
}

/** Does what the recipe needs of kubectl: creates a Job, waits for it, and prints the logs of a pod. */
async function runKubectl(args: readonly string[]): Promise<void> {
  const directory = process.env['CLUSTER'] ?? '';
  const [verb] = args;
  if (verb === 'create') {
    writeFileSync(join(directory, 'job.yaml'), readFileSync(0));
    return;
  }
  const manifest = parse(readFileSync(join(directory, 'job.yaml'), 'utf8')) as Manifest;
  const { metadata, spec } = manifest;
  if (verb === 'wait') {
    if (args.at(-1) !== `job/${metadata.name}`) throw new Error(`Unknown ${args.at(-1)}.`);
    const [container] = spec.template.spec.containers;
    if (!container || spec.completionMode !== 'Indexed') throw new Error('Not an Indexed Job.');
    if (spec.parallelism !== spec.completions) throw new Error('The pods must run concurrently.');
    await Promise.all(
      Array.from({ length: spec.completions }, async (_, index) => {
        const env = Object.fromEntries(
          container.env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
        ) as Record<string, string>;
        const [shell, flag, text] = container.command;
        // Pods have separate file systems.
        const script = text.replaceAll('/tmp/', `${directory}/pod-${index}-`);
        const child = spawn(shell, [flag, script], {
          env: { ...env, PATH: process.env['PATH'] ?? '', JOB_COMPLETION_INDEX: String(index) },
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        let log = '';
        child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()));
        await once(child, 'close');
        writeFileSync(join(directory, `log-${index}`), log);
      }),
    );
    return;
  }
  const selector = args[args.indexOf('--selector') + 1] ?? '';
  const [, index = ''] =
    /^batch\.kubernetes\.io\/job-name=.+,batch\.kubernetes\.io\/job-completion-index=(\d+)$/.exec(
      selector,
    ) ?? [];
  process.stdout.write(readFileSync(join(directory, `log-${index}`)));
}

await runKubectl(process.argv.slice(2));
