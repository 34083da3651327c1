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
  await import('../dist/bundle/cli.js');
}
