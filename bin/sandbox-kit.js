#!/usr/bin/env node
import module from 'node:module';

// Plain JavaScript that any Node can read: it says what to do before something newer would crash.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `sandbox-kit needs Node 22.19 or newer, this is ${process.versions.node}: install a newer Node and run it again.`,
  );
  process.exitCode = 2;
} else {
  // What was compiled once is kept for the next start, which is then a third faster.
  module.enableCompileCache();
  // Node stores it at the end, which a server that is killed does not reach.
  if (['agent', 'serve'].includes(process.argv[2])) {
    setTimeout(() => module.flushCompileCache?.(), 1_000).unref();
  }
  await import('../dist/src/cli/main.js');
}
