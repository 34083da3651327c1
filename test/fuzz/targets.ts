import type { Target } from './engine/target.ts';

/** Loads a target. */
const load = (name: string) => async (): Promise<Target<unknown>> => {
  const module = (await import(`./targets/${name}.ts`)) as { default: Target<unknown> };
  return module.default;
};

/** The names of all targets, in the order in which they run. */
export const TARGET_NAMES = [
  'service-interface',
  'agent',
  'service-admin',
  'raw-http',
  'service-pages',
  'otlp',
  'documents',
  'audio',
  'media',
  'signaling',
  'caller',
] as const;

/** Returns a target by its name. */
export const loadTarget = (name: string): Promise<Target<unknown>> => load(name)();
