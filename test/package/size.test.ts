/** A production install stays small, and resolves next to the packages that users have. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createEmptyProject, createProject, packKit } from './tarball.ts';

/** Limits of `npm install sandbox-kit` in an empty folder. */
const MEGABYTES_MAX = 90;
const PACKAGES_MAX = 110;

/** A package as `npm ls --json` lists it. */
interface Listed {
  dependencies?: Record<string, Listed>;
}

void t.test(
  `an install takes at most ${MEGABYTES_MAX} MB and ${PACKAGES_MAX} packages`,
  async (t) => {
    const project = await createProject(t);
    const bytes = measureDirectory(join(project.directory, 'node_modules'));
    const megabytes = Math.round(bytes / 1e5) / 10;
    t.ok(megabytes <= MEGABYTES_MAX, `${megabytes} MB on disk`);

    const { stdout } = await project.run('npm', ['ls', '--all', '--json']);
    const count = countPackages(JSON.parse(stdout) as Listed);
    t.ok(count > 1 && count <= PACKAGES_MAX, `${count} packages`);
  },
);

/** The packages of both major versions of the OpenTelemetry SDK that users have. */
const openTelemetry = {
  current: [
    '@opentelemetry/api',
    '@opentelemetry/exporter-trace-otlp-proto',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-trace',
  ],
  2: [
    '@opentelemetry/api@1.9',
    '@opentelemetry/exporter-trace-otlp-proto@0.223',
    '@opentelemetry/resources@2',
    '@opentelemetry/sdk-trace-base@2',
  ],
};

for (const [version, packages] of Object.entries(openTelemetry)) {
  void t.test(`the kit resolves next to OpenTelemetry (${version}) and Node`, async (t) => {
    const project = createEmptyProject(t);
    const { code, stderr } = await project.run('npm', [
      ...['install', '--package-lock-only', '--no-audit', packKit()],
      ...packages,
      ...['typescript', 'node'],
    ]);
    t.equal(code, 0, 'npm install finds versions that fit', { stderr });
  });
}

/** Returns the disk space of a directory in bytes: the blocks of its files and directories. */
function measureDirectory(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).reduce(
    (sum, path) => sum + lstatSync(join(directory, path)).blocks * 512,
    0,
  );
}

function countPackages(tree: Listed): number {
  const names = new Set<string>();
  const visit = ({ dependencies = {} }: Listed): void => {
    for (const [name, each] of Object.entries(dependencies)) {
      names.add(name);
      visit(each);
    }
  };
  visit(tree);
  return names.size;
}
