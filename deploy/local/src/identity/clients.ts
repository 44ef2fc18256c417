// The clients every stack knows: the command line and the dashboard. All others register themselves.

export const CLI_CLIENT_ID = 'methods-cli';
export const DASHBOARD_CLIENT_ID = 'methods-dashboard';

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

/** Client metadata as of RFC 7591. */
export function fixedClients(publicUrl: string): Record<string, unknown>[] {
  return [
    {
      client_id: CLI_CLIENT_ID,
      client_name: 'methods command line',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      // A native client's loopback address may have any port (RFC 8252, 7.3).
      redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback', 'http://[::1]/callback'],
      grant_types: ['authorization_code', 'refresh_token', DEVICE_CODE],
      response_types: ['code'],
    },
    {
      client_id: DASHBOARD_CLIENT_ID,
      client_name: 'Methods dashboard',
      application_type: 'web',
      token_endpoint_auth_method: 'none',
      redirect_uris: [`${publicUrl}/auth/callback`],
      post_logout_redirect_uris: [publicUrl, `${publicUrl}/`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
  ];
}
