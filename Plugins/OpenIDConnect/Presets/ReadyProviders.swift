public import ProviderKit

/// Providers for known services, for which the configuration needs only a client id and a secret.
public enum ReadyProviders {
    /// The providers to install in addition to `oidc` and `oauth2`.
    public static let all: [any Provider.Type] = [
        ReadyProvider<Google>.self, ReadyProvider<Microsoft>.self, ReadyProvider<GitHub>.self,
        ReadyProvider<GitLab>.self, ReadyProvider<Facebook>.self, ReadyProvider<LinkedIn>.self,
        ReadyProvider<Discord>.self, ReadyProvider<Slack>.self, ReadyProvider<Twitch>.self, ReadyProvider<Spotify>.self,
        ReadyProvider<Orange>.self, ReadyProvider<Yahoo>.self, ReadyProvider<Amazon>.self,
    ]
}

enum Google: ReadyService {
    static let preset = OpenIDConnectPreset(
        kind: "google", displayName: "Google", baseURL: "https://accounts.google.com",
        furtherSettings: [.hostedDomains])
}

/// Microsoft's work, school and private accounts; the app registration needs the claims `xms_edov` and `email`.
enum Microsoft: ReadyService {
    static let preset = OpenIDConnectPreset(
        kind: "microsoft", displayName: "Microsoft", baseURL: "https://login.microsoftonline.com",
        path: "/{tenant}/v2.0", furtherSettings: [.tenants])
}

enum GitHub: ReadyService {
    static let preset = OAuth2Preset(
        kind: "github", displayName: "GitHub", authorizationEndpoint: "https://github.com/login/oauth/authorize",
        tokenEndpoint: "https://github.com/login/oauth/access_token", userInfoEndpoint: "https://api.github.com/user",
        emailsEndpoint: "https://api.github.com/user/emails", clientAuthentication: .post,
        scopes: ["read:user", "user:email"],
        claims: ["providerUid": "id", "displayName": "name", "preferred_username": "login", "picture": "avatar_url"])
}

enum GitLab: ReadyService {
    static let preset = OpenIDConnectPreset(kind: "gitlab", displayName: "GitLab", baseURL: "https://gitlab.com")
}

/// Facebook, which does not state whether addresses are verified; paths without a version use that of the app.
enum Facebook: ReadyService {
    static let preset = OAuth2Preset(
        kind: "facebook", displayName: "Facebook", authorizationEndpoint: "https://www.facebook.com/dialog/oauth",
        tokenEndpoint: "https://graph.facebook.com/oauth/access_token",
        userInfoEndpoint: "https://graph.facebook.com/me?fields=id,name,email,picture",
        clientAuthentication: .post, scopes: ["email", "public_profile"],
        claims: ["providerUid": "id", "email": "email", "displayName": "name", "picture": "picture.data.url"])
}

enum LinkedIn: ReadyService {
    static let preset = OpenIDConnectPreset(
        kind: "linkedin", displayName: "LinkedIn", baseURL: "https://www.linkedin.com", path: "/oauth")
}

enum Discord: ReadyService {
    static let preset = OAuth2Preset(
        kind: "discord", displayName: "Discord", authorizationEndpoint: "https://discord.com/oauth2/authorize",
        tokenEndpoint: "https://discord.com/api/oauth2/token", userInfoEndpoint: "https://discord.com/api/users/@me",
        scopes: ["identify", "email"],
        claims: [
            "providerUid": "id", "email": "email", "emailVerified": "verified", "displayName": "global_name",
            "preferred_username": "username",
        ])
}

enum Slack: ReadyService {
    static let preset = OpenIDConnectPreset(kind: "slack", displayName: "Slack", baseURL: "https://slack.com")
}

enum Twitch: ReadyService {
    static let preset = OpenIDConnectPreset(
        kind: "twitch", displayName: "Twitch", baseURL: "https://id.twitch.tv", path: "/oauth2",
        scopes: ["user:read:email"], claims: ["displayName": "preferred_username"])
}

/// Spotify, which states that addresses are not verified.
enum Spotify: ReadyService {
    static let preset = OAuth2Preset(
        kind: "spotify", displayName: "Spotify", authorizationEndpoint: "https://accounts.spotify.com/authorize",
        tokenEndpoint: "https://accounts.spotify.com/api/token", userInfoEndpoint: "https://api.spotify.com/v1/me",
        scopes: ["user-read-email"], claims: ["providerUid": "id", "email": "email", "displayName": "display_name"])
}

/// Orange in France, which provides only the claim `sub`.
enum Orange: ReadyService {
    static let preset = OpenIDConnectPreset(
        kind: "orange", displayName: "Orange", baseURL: "https://api.orange.com", path: "/openidconnect/fr/v1",
        scopes: [], claims: ["email": nil, "displayName": nil])
}

enum Yahoo: ReadyService {
    static let preset = OpenIDConnectPreset(kind: "yahoo", displayName: "Yahoo", baseURL: "https://api.login.yahoo.com")
}

/// Amazon, which does not state whether addresses are verified.
enum Amazon: ReadyService {
    static let preset = OAuth2Preset(
        kind: "amazon", displayName: "Amazon", authorizationEndpoint: "https://www.amazon.com/ap/oa",
        tokenEndpoint: "https://api.amazon.com/auth/o2/token", userInfoEndpoint: "https://api.amazon.com/user/profile",
        scopes: ["profile"], claims: ["providerUid": "user_id", "email": "email", "displayName": "name"])
}
