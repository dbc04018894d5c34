import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Prints the status, the protocol and the body of a URL: java Client old|new URL. */
public class Client {
    public static void main(String[] arguments) throws Exception {
        URI url = URI.create(arguments[1]);
        if (arguments[0].equals("old")) {
            HttpURLConnection asked = (HttpURLConnection) url.toURL().openConnection();
            int status = asked.getResponseCode();
            print(status, "1.1", status < 400 ? asked.getInputStream() : asked.getErrorStream());
            return;
        }
        HttpResponse<InputStream> answer = HttpClient.newHttpClient()
            .send(HttpRequest.newBuilder(url).build(), HttpResponse.BodyHandlers.ofInputStream());
        boolean two = answer.version() == HttpClient.Version.HTTP_2;
        print(answer.statusCode(), two ? "2" : "1.1", answer.body());
        System.exit(0);
    }

    private static void print(int status, String version, InputStream body) throws Exception {
        System.out.print(status + " " + version + "\n");
        body.transferTo(System.out);
        System.out.flush();
    }
}
