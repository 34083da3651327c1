#!/usr/bin/env node
import module from 'node:module';
import { nodeVersionProblem } from './node-version.js';

if (nodeVersionProblem !== undefined) {
  console.error(nodeVersionProblem);
  process.exitCode = 2;
} else {
  // Stores compiled code on disk, which makes the next start a third faster.
  module.enableCompileCache();
  // Node stores it at exit, but a server may be killed before.
  if (['agent', 'serve'].includes(process.argv[2])) {
    setTimeout(() => module.flushCompileCache?.(), 1_000).unref();
  }
  // Other arguments, such as --help, don't load zod.
  if (/^[a-z]/.test(process.argv[2] ?? '')) deferLanguages();
  await import('../dist/bundle/cli.js');
}

/**
 * Lets zod load its messages in 64 languages when a program reads one of them, which this one never
 * does. Without it, they take a tenth of the start. If zod moves the file, it loads them as usual.
 */
function deferLanguages() {
  const require = module.createRequire(import.meta.url);
  const path = require.resolve('zod').replace(/index\.cjs$/, 'v4/locales/index.cjs');
  const load = () => {
    if (require.cache[path] === placeholder) delete require.cache[path];
    return require(path);
  };
  const placeholder = new module.Module(path);
  placeholder.loaded = true;
  placeholder.exports = new Proxy(
    {},
    {
      // Compiled modules ask each other for this name before they read any export.
      get: (_, name) => name === '__esModule' || load()[name],
      has: (_, name) => name in load(),
    },
  );
  require.cache[path] = placeholder;
}
