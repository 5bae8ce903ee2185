// dist/watch.html, the page of a training: built after the first page and beside it, since that
// one must stay a single script (vite.config.mjs).

import { defineConfig } from 'vite';

export default defineConfig({
  base: './',
  publicDir: false,
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    emptyOutDir: false,
    rollupOptions: { input: 'watch.html' },
  },
});
