// Go 1.19 or newer; no modules needed.
//
//	BASE_URL=… OPERATOR_KEY=… OPERATOR_SECRET=… go run sign_request.go GET /me
//	… go run sign_request.go POST /players '{"externalId":"user-42", …}' my-idempotency-key-1
//
// The next line lets this program lie in one folder with others: "go run" of a named file does not mind it.
// Remove it when you take the function into a package of yours.

//go:build ignore

package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// SignRequest takes the path as really sent: with the /api/v1 prefix and the query string. The body is empty when there is none.
func SignRequest(secret, method, path, timestamp string, body []byte) string {
	bodySHA256 := sha256.Sum256(body)
	canonical := strings.Join([]string{method, path, timestamp, hex.EncodeToString(bodySHA256[:])}, "\n")
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(canonical))
	return hex.EncodeToString(mac.Sum(nil))
}

func main() {
	baseURL, key, secret := os.Getenv("BASE_URL"), os.Getenv("OPERATOR_KEY"), os.Getenv("OPERATOR_SECRET")
	if len(os.Args) < 3 || baseURL == "" || key == "" || secret == "" {
		fmt.Fprintln(os.Stderr, "usage: BASE_URL=... OPERATOR_KEY=... OPERATOR_SECRET=... go run sign_request.go METHOD PATH [BODY [IDEMPOTENCY_KEY]]")
		os.Exit(2)
	}
	arguments := append(os.Args[1:], "", "")
	method, route, body, idempotencyKey := arguments[0], arguments[1], arguments[2], arguments[3]
	url := baseURL + route
	path := "/" + strings.SplitN(url, "/", 4)[3]
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("X-Operator-Key", key)
	request.Header.Set("X-Timestamp", timestamp)
	request.Header.Set("X-Signature", SignRequest(secret, method, path, timestamp, []byte(body)))
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", idempotencyKey)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.StatusCode, string(text))
}
