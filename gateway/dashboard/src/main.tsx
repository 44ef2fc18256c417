// The dashboard's start: its providers, and the router that shows the page of the address.
import '@mantine/core/styles.layer.css';
import './design/tokens.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { newQueryClient } from './api/query-client.ts';
import { styleNonce } from './design/style-nonce.ts';
import { cssVariables, theme } from './design/theme.ts';
import { newRouter } from './router.tsx';

const queryClient = newQueryClient();
const router = newRouter();

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

const element = document.getElementById('app');
if (element === null) throw new Error('the page has no #app');
createRoot(element).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={cssVariables}
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
