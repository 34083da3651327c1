#!/usr/bin/env node
import module from 'node:module';

// This file is valid in every version of Node, so that an old one prints this message.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `sandbox-kit needs Node 22.19 or newer, but this is Node ${process.versions.node}. Install a newer Node, then try again.`,
  );
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
