/** The templates of `sandbox-kit init`, each a combination of directories of `shipped/templates/`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { shippedPath } from '../../src/platform/shipped-path.ts';

interface Template {
  /** Name of the framework, as `init` prints it. */
  framework: string;
  /** Directories of `shipped/templates/`. A file replaces the file of an earlier directory. */
  layers: readonly string[];
  /** The file that users replace with their own agent. */
  agentFile: string;
  /** Shell command before those that install packages. */
  setUp?: string;
  /** Shell command that installs packages from somewhere other than npm. */
  install?: string;
}

const javascript = { agentFile: 'src/agent.js' };

const TEMPLATES = {
  node: { ...javascript, framework: "Node's HTTP server", layers: ['javascript', 'node'] },
  express: { ...javascript, framework: 'Express', layers: ['javascript', 'zod', 'express'] },
  fastify: { ...javascript, framework: 'Fastify', layers: ['javascript', 'fastify'] },
  hono: { ...javascript, framework: 'Hono', layers: ['javascript', 'zod', 'hono'] },
  fastapi: {
    framework: 'FastAPI (Python)',
    layers: ['fastapi'],
    agentFile: 'sandbox/agent.py',
    setUp: 'python3 -m venv .venv && . .venv/bin/activate',
    install: 'pip install -r requirements.txt',
  },
} as const satisfies Record<string, Template>;

/** The name of a template. */
type TemplateName = keyof typeof TEMPLATES;

export const templateNames = Object.keys(TEMPLATES) as [TemplateName, ...TemplateName[]];

/** The only template that supports `--voice`, and the directory that adds voice calls. */
export const VOICE_TEMPLATE: TemplateName = 'node';
const VOICE_LAYER = 'voice';

/** Returns the framework, the agent file, and the first commands of a template. */
export function describeTemplate(name: TemplateName): Omit<Template, 'layers'> {
  return TEMPLATES[name];
}

/** A file of a project. */
export interface ProjectFile {
  /** Path relative to the project, separated by slashes. */
  path: string;
  text: string;
}

/** npm omits `.gitignore` files from packages, so the templates store them under another name. */
const RENAMED: Readonly<Record<string, string>> = { gitignore: '.gitignore' };

/**
 * Returns the files of a template, sorted by path. `__NAME__` placeholders are replaced by `values`.
 */
export function readTemplate(
  name: TemplateName,
  { hasVoice, values }: { hasVoice: boolean; values: Readonly<Record<string, string>> },
): ProjectFile[] {
  const root = shippedPath('templates');
  const layers = [...TEMPLATES[name].layers, ...(hasVoice ? [VOICE_LAYER] : [])];
  const textByPath = new Map<string, string>();
  for (const layer of layers) {
    for (const path of listFiles(join(root, layer))) {
      const text = readFileSync(join(root, layer, path), 'utf8');
      textByPath.set(RENAMED[path] ?? path, fillPlaceholders(text, values));
    }
  }
  return [...textByPath]
    .map(([path, text]) => ({ path, text }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns whether Python compiled a file, as it does when a template runs from this directory. */
const isGenerated = (path: string): boolean => path.split('/').includes('__pycache__');

function listFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .filter((path) => !isGenerated(path));
}

function fillPlaceholders(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /__([A-Z_]+)__/g,
    (placeholder, key: string) => values[key] ?? placeholder,
  );
}
